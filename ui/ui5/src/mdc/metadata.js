sap.ui.define([], () => {
  'use strict';

  const COMMON = '@com.sap.vocabularies.Common.v1.';
  const UI = '@com.sap.vocabularies.UI.v1.';
  const MEASURES = '@Org.OData.Measures.V1.';
  const CAPABILITIES = '@Org.OData.Capabilities.V1.';
  const CORE = '@Org.OData.Core.V1.';
  const DESCRIPTION = '@Org.OData.Core.V1.Description';
  const IS_URL = '@Org.OData.Core.V1.IsURL';

  /** How many columns there are where no UI.LineItem says which. */
  const few = 8;

  /** The OData V4 model of a control, as soon as it has one. */
  function modelOf(control, name) {
    return new Promise((resolve) => {
      const look = () => {
        const model = control.getModel(name);
        if (!model) return;
        control.detachModelContextChange(look);
        resolve(model);
      };
      control.attachModelContextChange(look);
      look();
    });
  }

  const pathOf = (expression) => expression?.$PropertyPath ?? expression?.$Path;

  /** A value that is either a constant or that of another property: { text } or { path }. */
  function constantOrPath(expression) {
    if (expression === undefined || expression === null) return null;
    return typeof expression === 'object' ? { path: pathOf(expression) } : { text: String(expression) };
  }

  /** What people see for a value: the path of the text, and whether the value itself is shown as well. */
  function textOf(annotations) {
    const path = annotations[`${COMMON}Text`]?.$Path;
    if (!path) return null;
    const arrangement = (annotations[`${COMMON}Text${UI}TextArrangement`] ?? annotations[`${UI}TextArrangement`])?.$EnumMember ?? '';
    const how = arrangement.split('/').pop() || 'TextFirst';
    return how === 'TextSeparate' ? null : { path, how };
  }

  /**
   * The list of possible values: its set, the property that is taken over, and what is shown of a row, what people see first
   * and the key last.
   */
  async function valueListOf(meta, path, annotations) {
    const list = annotations[`${COMMON}ValueList`];
    if (!list?.CollectionPath) return null;
    const collection = list.CollectionPath;
    const parameters = list.Parameters ?? [];
    const key = parameters.find((one) => pathOf(one.LocalDataProperty) === path)?.ValueListProperty;
    if (!key) return null;
    const shown = parameters.filter((one) => !one.LocalDataProperty).map((one) => one.ValueListProperty);
    const labelled = async (one) => ({ path: one, label: (await meta.requestObject(`/${collection}/${one}${COMMON}Label`)) ?? one });
    const columns = await Promise.all([...shown, key].map(labelled));
    const restrictions = await meta.requestObject(`/${collection}${CAPABILITIES}SearchRestrictions`);
    return { collection, label: list.Label ?? '', key, columns, searchable: restrictions?.Searchable !== false };
  }

  /** The members of an enumeration with their labels, and whether a value may hold several; no members for another type. */
  async function enumerationOf(meta, typeName) {
    if (typeName.startsWith('Edm.')) return { members: null, flags: false };
    const type = await meta.requestObject(`/${typeName}`);
    if (type?.$kind !== 'EnumType') return { members: null, flags: false };
    const names = Object.keys(type).filter((name) => Number.isInteger(Number(type[name])) && !name.startsWith('$') && !name.includes('@'));
    const label = async (name) => {
      const annotations = (await meta.requestObject(`/${typeName}/${name}@`)) ?? {};
      return { name, label: annotations[`${COMMON}Label`] ?? annotations[DESCRIPTION] ?? name };
    };
    return { members: await Promise.all(names.map(label)), flags: type.$IsFlags === true };
  }

  /** What is known of a property of a set, null where there is none by that path. */
  async function property(meta, { collection, keys, limits }, path) {
    const at = `/${collection}/${path}`;
    const declared = await meta.requestObject(at);
    if (!declared?.$Type || declared.$kind !== 'Property' || declared.$isCollection) return null;
    const annotations = (await meta.requestObject(`${at}@`)) ?? {};
    const { members, flags } = await enumerationOf(meta, declared.$Type);
    const valueList = await valueListOf(meta, path, annotations);
    const text = textOf(annotations);
    const type = await meta.requestUI5Type(at);
    const given = annotations[`${CORE}Computed`] === true;
    // What names something is no amount: its digits are not grouped.
    const names = keys.includes(path) || valueList !== null || text !== null;
    const known = declared.$Type.startsWith('Edm.') && !/^Edm\.(?:Binary|Duration|Stream|Geo\w+)$/.test(declared.$Type);
    const formatOptions = { ...((known && type.getFormatOptions()) || {}), ...(names && /^Edm\.(?:S?Byte|Int|Decimal)/.test(declared.$Type) && { groupingEnabled: false }) };
    const constraints = (known && type.getConstraints()) || {};
    return {
      path,
      edm: declared.$Type,
      label: annotations[`${COMMON}Label`] ?? path,
      description: annotations[DESCRIPTION] ?? '',
      dataType: known ? type.getMetadata().getName() : 'sap.ui.model.odata.type.String',
      constraints,
      formatOptions,
      type: known ? new (type.getMetadata().getClass())(formatOptions, constraints) : null,
      names,
      hidden: annotations[`${UI}Hidden`] === true,
      text,
      unit: constantOrPath(annotations[`${MEASURES}ISOCurrency`] ?? annotations[`${MEASURES}Unit`]),
      valueList,
      members,
      flags,
      url: annotations[IS_URL] === true,
      wraps: annotations[`${UI}MultiLineText`] === true,
      filterable: (known || (members !== null && !flags)) && limits.filterable && !limits.unfilterable.includes(path),
      sortable: limits.sortable && !limits.unsortable.includes(path),
      // Whether people may fill in the property of a new row, and change that of a row that is there.
      creatable: known && limits.creatable && !given && !limits.uncreatable.includes(path),
      updatable: known && limits.updatable && !given && annotations[`${CORE}Immutable`] !== true && !limits.unupdatable.includes(path),
    };
  }

  const paths = (list) => (list ?? []).map(pathOf).filter(Boolean);

  /** What a set can do, as its Capabilities say. */
  function limitsOf(annotations) {
    const filter = annotations[`${CAPABILITIES}FilterRestrictions`] ?? {};
    const sort = annotations[`${CAPABILITIES}SortRestrictions`] ?? {};
    const insert = annotations[`${CAPABILITIES}InsertRestrictions`] ?? {};
    const update = annotations[`${CAPABILITIES}UpdateRestrictions`] ?? {};
    return {
      filterable: filter.Filterable !== false,
      unfilterable: paths(filter.NonFilterableProperties),
      sortable: sort.Sortable !== false,
      unsortable: paths(sort.NonSortableProperties),
      searchable: annotations[`${CAPABILITIES}SearchRestrictions`]?.Searchable !== false,
      creatable: insert.Insertable !== false,
      uncreatable: paths(insert.NonInsertableProperties),
      updatable: update.Updatable !== false,
      unupdatable: paths(update.NonUpdatableProperties),
    };
  }

  /**
   * Reads what the annotations of a set say of tables and filters: its titles, its properties by their paths, those of the
   * list (UI.LineItem) and those to filter by (UI.SelectionFields).
   */
  async function read(model, collection) {
    const meta = model.getMetaModel();
    const type = await meta.requestObject(`/${collection}/`);
    if (!type) throw new Error(`vestibule: the service has no set ${collection}: correct payload.collection`);
    const annotations = (await meta.requestObject(`/${collection}/@`)) ?? {};
    const limits = limitsOf((await meta.requestObject(`/${collection}@`)) ?? {});
    const semanticKey = paths(annotations[`${COMMON}SemanticKey`]);
    const about = { collection, limits, keys: [...(type.$Key ?? []), ...semanticKey] };
    const lines = (annotations[`${UI}LineItem`] ?? []).map((field) => pathOf(field.Value)).filter(Boolean);
    const selected = paths(annotations[`${UI}SelectionFields`]);
    const own = Object.keys(type).filter((name) => type[name]?.$kind === 'Property');
    const all = await Promise.all([...new Set([...lines, ...selected, ...own])].map((path) => property(meta, about, path)));
    const properties = new Map(all.filter((one) => one && !one.hidden).map((one) => [one.path, one]));
    const there = (path) => properties.has(path);
    return {
      collection,
      title: annotations[`${UI}HeaderInfo`]?.TypeNamePlural ?? collection,
      searchable: limits.searchable,
      semanticKey,
      properties,
      list: lines.length > 0 ? lines.filter(there) : [...properties.keys()].slice(0, few),
      filters: selected.filter((path) => properties.get(path)?.filterable),
    };
  }

  /** What sap.ui.mdc knows of a property, in tables and in filter bars. */
  const info = (one) => ({
    key: one.path,
    name: one.path, // what UI5 before 1.124 calls a key
    path: one.path,
    label: one.label,
    tooltip: one.description || undefined,
    dataType: one.dataType,
    constraints: one.constraints,
    formatOptions: one.formatOptions,
    maxConditions: one.edm === 'Edm.Boolean' ? 1 : -1,
    caseSensitive: false,
  });

  const known = new WeakMap(); // by model, then by set

  return {
    /** The same, for a control with a payload { collection, model }, and once for each model and set. */
    async of(control) {
      const { collection, model: name } = control.getDelegate().payload;
      const model = await modelOf(control, name);
      if (!known.has(model)) known.set(model, new Map());
      const sets = known.get(model);
      if (!sets.has(collection)) sets.set(collection, read(model, collection));
      return sets.get(collection);
    },

    /** The infos of sap.ui.mdc about the properties of a set, for a table. */
    infos: (set) => [...set.properties.values()].map((one) => ({ ...info(one), filterable: one.filterable, sortable: one.sortable })),

    /** Those for a filter bar. */
    filterInfos: (set) => [...set.properties.values()].filter((one) => one.filterable).map(info),
  };
});
