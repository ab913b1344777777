sap.ui.define(['sap/m/Link', 'sap/m/ObjectIdentifier', 'sap/m/ObjectNumber', 'sap/m/Text', 'vestibule/mdc/fields'], (Link, ObjectIdentifier, ObjectNumber, Text, fields) => {
  'use strict';

  const numbers = ['Edm.Byte', 'Edm.SByte', 'Edm.Int16', 'Edm.Int32', 'Edm.Int64', 'Edm.Decimal', 'Edm.Double', 'Edm.Single'];

  /** A text beside its value, in the arrangement that the annotation asks for; a row that it leads to may be missing. */
  const arranged = (how) => (text, value) => {
    if (text === null || text === undefined || text === '') return value ?? '';
    if (how === 'TextOnly' || value === null || value === undefined) return text;
    return how === 'TextLast' ? `${value} (${text})` : `${text} (${value})`;
  };

  /** A number that names something, whose digits are not grouped. */
  const plain = (value) => (value === null || value === undefined ? '' : String(value));

  return {
    /** Whether the cells of a property stand at the end of their column, as numbers do. */
    atEnd: (one) => numbers.includes(one.edm) && !one.names,

    /** The control that shows a property of a table's rows, as a template; a field where the table has an update group. */
    template(one, set, table) {
      const { model, updateGroup } = table.getDelegate().payload;
      if (updateGroup && (one.creatable || one.updatable)) return fields.field(table, one);
      const bind = (path) => ({ path: model ? `${model}>${path}` : path });
      const own = one.names && numbers.includes(one.edm) ? { ...bind(one.path), targetType: 'any', formatter: plain } : bind(one.path);
      if (one.members) {
        const labels = new Map(one.members.map(({ name, label }) => [name, label]));
        const label = (name) => labels.get(name) ?? name;
        const formatter = (value) => String(value ?? '').split(',').map(label).join(', '); // of flags several, with commas between them
        return new Text({ text: { ...bind(one.path), targetType: 'any', formatter } });
      }
      if (one.text) {
        return new Text({ text: { parts: [bind(one.text.path), { ...bind(one.path), targetType: 'any' }], formatter: arranged(one.text.how) } });
      }
      if (one.unit) {
        const unit = one.unit.path ? bind(one.unit.path) : one.unit.text;
        return new ObjectNumber({ number: bind(one.path), unit, emphasized: false });
      }
      if (one.url) return new Link({ text: bind(one.path), href: bind(one.path), target: '_blank', rel: 'noopener' });
      if (set.semanticKey.length === 1 && set.semanticKey[0] === one.path) return new ObjectIdentifier({ title: own });
      return new Text({ text: own, wrapping: one.wraps || one.edm === 'Edm.String', maxLines: one.wraps ? 4 : undefined });
    },
  };
});
