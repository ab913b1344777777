sap.ui.define(['sap/ui/mdc/FilterBarDelegate', 'sap/ui/mdc/odata/v4/TypeMap', 'vestibule/mdc/fields', 'vestibule/mdc/metadata'], (Base, TypeMap, fields, metadata) => {
  'use strict';

  const filled = new WeakSet(); // bars that have their first fields

  /** The first fields: those of UI.SelectionFields, and the one for words where the set can be searched. */
  function fill(bar, set) {
    if (filled.has(bar) || bar.isDestroyed()) return;
    filled.add(bar);
    if (set.searchable && !bar.getBasicSearchField()) bar.setBasicSearchField(fields.searchField());
    if (bar.getFilterItems().length > 0) return; // the application has its own
    for (const path of set.filters) {
      bar.addFilterItem(fields.filterField(bar, set.properties.get(path), `${bar.getId()}--${path.replaceAll('/', '--')}`));
    }
  }

  /**
   * A delegate for sap.ui.mdc.FilterBar that makes its fields from the annotations of a set. The payload names the set:
   * `{ collection: 'Orders' }`, and with `model` a model that has a name.
   */
  return Object.assign({}, Base, {
    getTypeMap: () => TypeMap,

    async fetchProperties(bar) {
      const set = await metadata.of(bar);
      fill(bar, set);
      return metadata.filterInfos(set);
    },

    async addItem(bar, key) {
      const set = await metadata.of(bar);
      const one = set.properties.get(key);
      return one ? fields.filterField(bar, one) : null;
    },
  });
});
