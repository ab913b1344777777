// What can be explored: the sets, columns and links of $metadata (CSDL JSON 4.01), with the labels that it has for them.

type Json = { [name: string]: unknown };

/** How people narrow a column down: it decides on the field and on how what they type is read. */
export type Kind = 'text' | 'number' | 'truth' | 'choice' | 'day' | 'instant' | 'exact' | 'none';

export interface Column {
  /** The path of the property, such as address/city. */
  path: string;
  label: string;
  kind: Kind;
  edm: string;
  /** The members of an enumeration, with what people see for each. */
  members: Map<string, string>;
  /** Whether it can be added up. */
  adds: boolean;
  nullable: boolean;
  /** The currency or unit of its values: one for all, or the column of each. */
  unit?: { value?: string | undefined; path?: string | undefined } | undefined;
  /** What the document says of the property. */
  facets?: { [name: string]: unknown };
  /** The path of the text that annotations have for its values. */
  text?: string | undefined;
  /** The path of the label that stands in place of its values, which people sort and narrow down by. */
  by?: string;
}

export interface Link {
  name: string;
  label: string;
  many: boolean;
  /** The set that it leads to; undefined where the service has none. */
  set: string | undefined;
  type: string;
  /** The column of this side that alone decides where it leads, for a key over one column. */
  column: string | undefined;
}

export interface Type {
  name: string;
  key: string[];
  columns: Column[];
  /** The columns of the key that annotations hide. */
  hidden: Column[];
  links: Link[];
  /** The column that people know a row by. */
  title: string | undefined;
  /** The paths of the columns that annotations have for tables; empty for all. */
  list: string[];
}

export interface EntitySet {
  name: string;
  label: string;
  type: Type;
  single: boolean;
  searchable: boolean;
  /** Whether sums and groups can be asked for ($apply). */
  sums: boolean;
  /** What annotations say of the set, by term. */
  notes: { [term: string]: unknown };
}

const isJson = (v: unknown): v is Json => typeof v === 'object' && v !== null && !Array.isArray(v);
const text = (v: unknown): string | undefined => (typeof v === 'string' && v !== '' ? v : undefined);

/** released_on and releasedOn become "Released on". */
export function readable(name: string): string {
  const words = name.replace(/([a-z0-9])([A-Z])/g, '$1 $2').replaceAll('_', ' ').trim().toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const kinds: { [edm: string]: Kind } = {
  String: 'text', Boolean: 'truth', Date: 'day', DateTimeOffset: 'instant', Guid: 'exact', Duration: 'none', TimeOfDay: 'exact', Binary: 'none', Stream: 'none',
  Byte: 'number', SByte: 'number', Int16: 'number', Int32: 'number', Int64: 'number', Decimal: 'number', Double: 'number', Single: 'number',
};

/** How values of a type of the service are narrowed down. */
export const kindOf = (edm: string): Kind => kinds[edm.replace('Edm.', '')] ?? 'none';

/** Reads the sets of a service; empty where the document is none. */
export function readModel(doc: unknown): Map<string, EntitySet> {
  return isJson(doc) ? new Reader(doc).sets() : new Map();
}

class Reader {
  private readonly doc: Json;
  private readonly types = new Map<string, Type>();
  private readonly bindings = new Map<string, Json>();

  constructor(doc: Json) {
    this.doc = doc;
  }

  sets(): Map<string, EntitySet> {
    const sets = new Map<string, EntitySet>();
    const qualified = text(this.doc['$EntityContainer']) ?? '';
    const container = this.find(qualified) ?? {};
    for (const [name, value] of Object.entries(container)) {
      if (name.startsWith('$') || name.startsWith('@') || !isJson(value)) continue;
      const type = this.type(text(value['$Type']) ?? '', value);
      if (type === undefined) continue;
      const notes = { ...this.notes(`${qualified}/${name}`), ...value };
      const search = notes['@Capabilities.SearchRestrictions'];
      sets.set(name, {
        name,
        label: text(notes['@Common.Label']) ?? this.plural(value) ?? readable(name),
        type,
        single: value['$Collection'] !== true,
        searchable: isJson(search) && search['Searchable'] === true,
        sums: notes['@Aggregation.ApplySupported'] !== undefined,
        notes,
      });
    }
    return sets;
  }

  /** The name that annotations have for the rows of a set. */
  private plural(set: Json): string | undefined {
    return text(this.header(set)['TypeNamePlural']);
  }

  private header(of: Json): Json {
    const name = text(of['$Type']) ?? '';
    const info = this.find(name)?.['@UI.HeaderInfo'] ?? this.notes(name)['@UI.HeaderInfo'];
    return isJson(info) ? info : {};
  }

  /** What annotations call the end of a link that has the name of its type or set, or of its last word: items of OrderItems. */
  private called(name: string, link: Json, set: string | undefined): string | undefined {
    const plain = (s: string | undefined): string => (s ?? '').replaceAll('_', '').toLowerCase();
    const ends = (of: string): boolean => of !== '' && of.endsWith(plain(name));
    if (link['$Collection'] === true) return ends(plain(set)) ? this.plural(link) : undefined;
    return ends(plain(text(link['$Type'])?.split('.').at(-1))) ? text(this.header(link)['TypeName']) : undefined;
  }

  private type(name: string, set: Json): Type | undefined {
    const raw = this.find(name);
    if (raw === undefined) return undefined;
    const binding = isJson(set['$NavigationPropertyBinding']) ? set['$NavigationPropertyBinding'] : this.bindings.get(name) ?? {};
    this.bindings.set(name, binding);
    const known = this.types.get(name);
    if (known !== undefined) return known;
    const type: Type = { name, key: [], columns: [], hidden: [], links: [], title: undefined, list: [] };
    this.types.set(name, type);
    if (Array.isArray(raw['$Key'])) type.key = raw['$Key'].filter((k): k is string => typeof k === 'string');
    this.fill(type, raw, name, '', binding);
    type.title = this.title(type, raw, name);
    type.list = this.list(raw, name);
    return type;
  }

  private fill(type: Type, raw: Json, owner: string, prefix: string, binding: Json): void {
    for (const [name, value] of Object.entries(raw)) {
      if (name.startsWith('$') || name.startsWith('@') || name.includes('@') || !isJson(value)) continue;
      const notes = { ...this.notes(`${owner}/${name}`), ...value };
      const said = text(notes['@Common.Label']);
      if (value['$Kind'] === 'NavigationProperty') {
        if (prefix === '') type.links.push(link(name, said ?? this.called(name, value, text(binding[name])) ?? readable(name), value, binding));
      } else if (notes['@UI.Hidden'] !== true || type.key.includes(prefix + name)) {
        this.column(type, prefix + name, said ?? readable(name), { ...value, ...notes }, binding);
      }
    }
  }

  private column(type: Type, path: string, label: string, value: Json, binding: Json): void {
    const edm = text(value['$Type']) ?? 'Edm.String';
    const found = edm.startsWith('Edm.') ? undefined : this.find(edm);
    if (value['$Collection'] === true) return;
    if (found?.['$Kind'] === 'ComplexType') {
      this.fill(type, found, edm, `${path}/`, binding);
      return;
    }
    const names = found?.['$Kind'] === 'EnumType' ? Object.keys(found).filter((k) => !k.startsWith('$') && !k.includes('@')) : [];
    const members = new Map(names.map((name) => [name, text(found?.[`${name}@Common.Label`]) ?? name]));
    const kind = members.size > 0 && found?.['$IsFlags'] !== true ? 'choice' : kindOf(edm);
    const adds = kind === 'number' && !type.key.includes(path) && !/(^|_)id$/i.test(path);
    const prefix = path.slice(0, path.lastIndexOf('/') + 1);
    (value['@UI.Hidden'] === true ? type.hidden : type.columns).push({ path, label, kind, edm, members, adds, nullable: value['$Nullable'] === true, unit: unitOf(value, prefix), text: inside(prefix, text(pathOf(value['@Common.Text']))), facets: value });
  }

  private title(type: Type, raw: Json, name: string): string | undefined {
    const info = raw['@UI.HeaderInfo'] ?? this.notes(name)['@UI.HeaderInfo'];
    const said = isJson(info) && isJson(info['Title']) ? text(pathOf(info['Title']['Value'])) : undefined;
    const texts = type.columns.filter((c) => c.kind === 'text').map((c) => c.path);
    return [said, 'name', 'title', 'label', 'description'].find((p) => p !== undefined && texts.includes(p)) ?? texts.find((p) => !type.key.includes(p));
  }

  private list(raw: Json, name: string): string[] {
    const items = raw['@UI.LineItem'] ?? this.notes(name)['@UI.LineItem'];
    return Array.isArray(items) ? items.flatMap((item) => (isJson(item) ? text(pathOf(item['Value'])) ?? [] : [])) : [];
  }

  private find(qualified: string): Json | undefined {
    const at = qualified.lastIndexOf('.');
    const schema = this.doc[qualified.slice(0, at)];
    const found = isJson(schema) ? schema[qualified.slice(at + 1)] : undefined;
    return isJson(found) ? found : undefined;
  }

  /** What stands apart from a target about it. */
  private notes(target: string): Json {
    for (const schema of Object.values(this.doc)) {
      const all = isJson(schema) ? schema['$Annotations'] : undefined;
      const found = isJson(all) ? all[target] : undefined;
      if (isJson(found)) return found;
    }
    return {};
  }
}

/** A path stands as text, or as an object that says that it is one. */
const pathOf = (v: unknown): unknown => (isJson(v) ? v['$Path'] : v);

const inside = (prefix: string, path: string | undefined): string | undefined => (path === undefined ? undefined : prefix + path);

/** The currency or unit that annotations name, as a text or as a path beside the property. */
function unitOf(notes: Json, prefix: string): Column['unit'] {
  const said = notes['@Measures.ISOCurrency'] ?? notes['@Measures.Unit'];
  const path = isJson(said) ? text(said['$Path']) : undefined;
  return path === undefined ? { value: text(said) } : { path: prefix + path };
}

function link(name: string, label: string, value: Json, binding: Json): Link {
  const on = isJson(value['$ReferentialConstraint']) ? Object.keys(value['$ReferentialConstraint']).filter((k) => !k.includes('@')) : [];
  return {
    name,
    label,
    many: value['$Collection'] === true,
    set: text(binding[name]),
    type: text(value['$Type']) ?? '',
    column: on.length === 1 ? on[0] : undefined,
  };
}
