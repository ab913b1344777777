// Reader for .properties files, the format of UI5 resource bundles: UTF-8, `key = value`, `#` and `!` comments,
// a trailing backslash continues a line, \uXXXX and \n \t \r \f escapes.

const separator = /^((?:\\.|[^\\\s=:])*)(?:\s*[=:]\s*|\s+|$)(.*)$/s;

/** Parses the text of one bundle. Throws on a duplicate key, a line without a value, or a bad escape, naming the line. */
export function parseProperties(text: string): Record<string, string> {
  const out: Record<string, string> = Object.create(null);
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n|\r|\n/);
  for (let i = 0; i < lines.length; i++) {
    const first = i + 1;
    let line = (lines[i] ?? '').trimStart();
    if (line === '' || line.startsWith('#') || line.startsWith('!')) continue;
    while (continues(line) && i + 1 < lines.length) {
      i++;
      line = line.slice(0, -1) + (lines[i] ?? '').trimStart();
    }
    const match = separator.exec(line);
    const key = unescape(match?.[1] ?? '', first);
    const value = unescape(match?.[2] ?? '', first);
    if (key === '' || value === '') throw new Error(`line ${first}: neither a comment nor "key = value"`);
    if (key in out) throw new Error(`line ${first}: ${key} is there twice`);
    out[key] = value;
  }
  return out;
}

/** Reports whether the line ends in an odd number of backslashes. */
function continues(line: string): boolean {
  const tail = /\\+$/.exec(line);
  return tail !== null && tail[0].length % 2 === 1;
}

function unescape(s: string, line: number): string {
  return s.replace(/\\(u[0-9a-fA-F]{4}|u|.|$)/gs, (_, e: string) => {
    if (e.length === 5) return String.fromCharCode(parseInt(e.slice(1), 16));
    if (e === 'u' || e === '') throw new Error(`line ${line}: bad escape`);
    return { n: '\n', t: '\t', r: '\r', f: '\f' }[e] ?? e;
  });
}
