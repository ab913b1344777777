sap.ui.define(
  [
    'sap/ui/core/Element',
    'sap/ui/mdc/odata/v4/TableDelegate',
    'sap/ui/mdc/table/Column',
    'sap/ui/mdc/table/ResponsiveColumnSettings',
    'sap/ui/mdc/util/FilterUtil',
    'sap/ui/model/Filter',
    'sap/ui/model/Sorter',
    'vestibule/mdc/cells',
    'vestibule/mdc/fields',
    'vestibule/mdc/metadata',
    'vestibule/mdc/phrases',
  ],
  (Element, Base, Column, ResponsiveColumnSettings, FilterUtil, Filter, Sorter, cells, fields, metadata, phrases) => {
    'use strict';

    const filled = new WeakSet(); // tables that have their first columns
    const sets = new WeakMap(); // what is known of the set of a table

    function column(table, set, one, at) {
      return new Column({
        propertyKey: one.path,
        header: one.label,
        tooltip: one.description || undefined,
        hAlign: cells.atEnd(one) ? 'End' : 'Begin',
        template: cells.template(one, set, table),
        // What stands first is what a narrow screen keeps in a line.
        extendedSettings: new ResponsiveColumnSettings({ importance: at < 2 ? 'High' : at < 4 ? 'Medium' : 'Low' }),
      });
    }

    /** The first columns: those of UI.LineItem. */
    function fill(table, set) {
      if (filled.has(table) || table.isDestroyed()) return;
      filled.add(table);
      if (!table.getHeader()) table.setHeader(set.title);
      if (table.getColumns().length > 0) return; // the application has its own
      set.list.forEach((path, at) => table.addColumn(column(table, set, set.properties.get(path), at)));
    }

    /** Controls that filter a table: the bar that it names, and its own panel. */
    function filtering(table) {
      const bar = table.getFilter() && Element.getElementById(table.getFilter());
      return [bar, table.isFilteringEnabled() && table].filter(Boolean);
    }

    /** The conditions of a control by the paths of properties; of enumerations apart, for which UI5 can write no filter. */
    function conditionsOf(control, set) {
      const plain = {};
      const enums = [];
      for (const [key, list] of Object.entries(control.getConditions() ?? {})) {
        const one = set.properties.get(key);
        if (!one || list.length === 0) continue;
        if (one.members) {
          const names = list.map((condition) => condition.values[0]).filter((name) => one.members.some((member) => member.name === name));
          enums.push(`(${names.map((name) => `${one.path} eq ${one.edm}'${name}'`).join(' or ')})`);
        } else {
          plain[key] = list;
        }
      }
      return { plain, enums };
    }

    /**
     * A delegate for sap.ui.mdc.Table that makes its columns from the annotations of a set: labels, texts in place of keys,
     * amounts with their currency. The payload names the set: `{ collection: 'Orders' }`, with `model` a model that has a
     * name, and with `updateGroup` a group of it: what $metadata lets people write can then be edited in the cells, and waits
     * in that group for submitBatch.
     */
    return Object.assign({}, Base, {
      async fetchProperties(table) {
        const set = await metadata.of(table);
        sets.set(table, set);
        fill(table, set);
        return metadata.infos(set);
      },

      async addItem(table, key) {
        const set = await metadata.of(table);
        const one = set.properties.get(key);
        return one ? column(table, set, one, table.getColumns().length) : null;
      },

      updateBindingInfo(table, info) {
        Base.updateBindingInfo.call(this, table, info);
        const { collection, model, updateGroup } = table.getDelegate().payload;
        const set = sets.get(table);
        const controls = filtering(table);
        info.path = `${model ? `${model}>` : ''}/${collection}`;
        info.parameters.$count = true;
        if (updateGroup) info.parameters.$$updateGroupId = updateGroup;
        const enums = controls.flatMap((control) => conditionsOf(control, set).enums);
        info.parameters.$filter = enums.length > 0 ? enums.join(' and ') : undefined;
        const search = set.searchable ? controls.map((control) => control.getSearch?.() ?? '').join(' ') : '';
        info.parameters.$search = phrases(search) || undefined;
      },

      getFilters(table) {
        const set = sets.get(table);
        const filters = filtering(table)
          .map((control) => {
            const known = control.getPropertyHelper().getProperties();
            return FilterUtil.getFilterInfo(this.getTypeMap(table), conditionsOf(control, set).plain, known).filters;
          })
          .filter(Boolean);
        return filters.length > 1 ? [new Filter({ filters, and: true })] : filters;
      },

      /** What people see is what they sort by. */
      getSorters(table) {
        const set = sets.get(table);
        return Base.getSorters.call(this, table).map((sorter) => {
          const text = set.properties.get(sorter.sPath)?.text;
          return text && text.how !== 'TextLast' ? new Sorter(text.path, sorter.bDescending) : sorter;
        });
      },

      getFilterDelegate() {
        return {
          ...Base.getFilterDelegate.call(this),
          async addItem(table, key) {
            const set = await metadata.of(table);
            return fields.filterField(table, set.properties.get(key));
          },
        };
      },
    });
  },
);
