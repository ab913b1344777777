// Package scalar converts single values between the forms in which databases write them and those of OData: times,
// durations, exact decimals. It is pure and knows neither SQL nor the model's structure.
package scalar
