sap.ui.define(
  [
    'sap/m/Column',
    'sap/m/ColumnListItem',
    'sap/m/Table',
    'sap/m/Text',
    'sap/ui/mdc/Field',
    'sap/ui/mdc/FilterField',
    'sap/ui/mdc/ValueHelp',
    'sap/ui/mdc/valuehelp/Popover',
    'sap/ui/mdc/valuehelp/content/FixedList',
    'sap/ui/mdc/valuehelp/content/FixedListItem',
    'sap/ui/mdc/valuehelp/content/MTable',
    'sap/ui/model/Sorter',
  ],
  (Column, ColumnListItem, Table, Text, Field, FilterField, ValueHelp, Popover, FixedList, FixedListItem, MTable, Sorter) => {
    'use strict';

    const page = 30; // rows of a value list that are asked for at once

    const conditions = (path) => ({ path: `$filters>/conditions/${path}` });

    /** The names of an enumeration, which the metadata hold. */
    const fixedList = (members) => new FixedList({ items: members.map(({ name, label }) => new FixedListItem({ key: name, text: label })) });

    /** The rows of a set, which are asked for when the list opens. */
    function rows({ collection, label, key, columns }, model) {
      const prefix = model ? `${model}>` : '';
      const plain = { targetType: 'any', formatter: (value) => String(value ?? '') }; // a key is no amount: its digits are not grouped
      const cell = ({ path }) => new Text({ text: { path: prefix + path, ...(path === key && plain) } });
      return new MTable({
        title: label,
        keyPath: key,
        descriptionPath: columns[0].path,
        useAsValueHelp: true,
        table: new Table({
          width: '24rem',
          growing: true,
          growingScrollToLoad: true,
          growingThreshold: page,
          columns: columns.map((one) => new Column({ header: new Text({ text: one.label }), ...(one.path === key && { width: '6rem' }) })),
          items: {
            path: `${prefix}/${collection}`,
            suspended: true,
            sorter: new Sorter(columns[0].path),
            template: new ColumnListItem({ type: 'Active', cells: columns.map(cell) }),
            templateShareable: false,
          },
        }),
      });
    }

    /** The list of possible values, which opens below a field. It belongs to the control that the field is in. */
    function valueHelp(owner, one) {
      const { model } = owner.getDelegate().payload;
      const content = one.members ? fixedList(one.members) : rows(one.valueList, model);
      const help = new ValueHelp({
        delegate: { name: 'vestibule/mdc/ValueHelpDelegate', payload: { searchable: one.valueList?.searchable ?? false } },
        typeahead: new Popover({ content: [content] }),
      });
      owner.addDependent(help);
      return help;
    }

    const displays = { TextFirst: 'DescriptionValue', TextLast: 'ValueDescription', TextOnly: 'Description' };

    /** Editable where the property may be given: in a row that is not saved yet, in one that is there, or in both. */
    function editMode(one, bind) {
      if (one.creatable && one.updatable) return 'Editable';
      const mode = (created) => ((created ? one.creatable : one.updatable) ? 'Editable' : 'Display');
      return { ...bind('@$ui5.context.isTransient'), targetType: 'any', formatter: mode };
    }

    return {
      /** A field for a property of a table's rows, as a template. What is typed waits in the update group of the table. */
      field(table, one) {
        const { model } = table.getDelegate().payload;
        const bind = (path) => ({ path: model ? `${model}>${path}` : path });
        return new Field({
          value: { ...bind(one.path), type: one.type },
          // The text is that of another row, which is not written.
          ...(one.text && { additionalValue: { ...bind(one.text.path), mode: 'OneWay' }, display: displays[one.text.how] }),
          ...(one.valueList && { valueHelp: valueHelp(table, one) }),
          editMode: editMode(one, bind),
          multipleLines: one.wraps,
          tooltip: one.description || undefined,
          width: '100%',
        });
      },

      /** A field that filters by a property: by its type, or by a list of its values. The id may be left out. */
      filterField(owner, one, id) {
        const lists = one.valueList || (one.members && !one.flags);
        return new FilterField(id, {
          propertyKey: one.path,
          label: one.label,
          tooltip: one.description || undefined,
          dataType: one.dataType,
          dataTypeConstraints: one.constraints,
          dataTypeFormatOptions: one.formatOptions,
          maxConditions: one.edm === 'Edm.Boolean' ? 1 : -1,
          conditions: conditions(one.path),
          ...(lists && { valueHelp: valueHelp(owner, one), display: 'Description', operators: ['EQ'] }),
        });
      },

      /** The field for words that may stand anywhere. */
      searchField: () => new FilterField({ propertyKey: '$search', dataType: 'sap.ui.model.type.String', conditions: conditions('$search'), maxConditions: 1 }),
    };
  },
);
