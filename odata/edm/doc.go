// Package edm is the entity data model that a service exposes: entity sets and singletons, their types, properties,
// navigation, and the rules of access that hold on every set.
//
// The model is pure. It knows nothing of tables, requests or HTTP: package sqlsource builds one from a database and
// keeps the mapping to columns to itself, keyed by the pointers of this model; package bind binds requests to it;
// package csdl writes it as $metadata. Two things in it are never shown to a client: EntityType.Hidden, properties that
// only row policies may use, and EntitySet.Policy, the text of such a policy.
//
// Fill the exported fields, then call Model.Check once. After that the model is read-only and may be shared by any
// number of goroutines. Start reading at Model, then EntitySet, EntityType and Type.
package edm
