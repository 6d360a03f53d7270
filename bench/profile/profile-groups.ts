/** What perf counted of the service, and which part of it, of Node.js or of the kernel that was. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** `place`: a module, where it is JavaScript, else the program or library. */
export type Sample = Readonly<{ symbol: string; place: string; count: number }>

/** A line of perf report: how many, the program or library, the symbol. */
const LINE = /^\s*(\d+)\s*\t\s*(.+?)\s*\t\[.\]\s(.+?)\s*$/

/** A function in the map that V8 writes: its kind of code, its name, and where it is from. */
const FUNCTION = /^(?:JS|Function|LazyCompile|Script):?\s*[~^*+']*((?:[gs]et (?!\/|node:))?\S*)\s(.*?):(\d+):\d+$/

/** The samples in a file of perf, by symbol. */
export function readSamples(file: string): readonly Sample[] {
  const options = ['report', '-i', file, '--stdio', '-q', '--no-children', '-F', 'sample,dso,sym', '-t', '\t']
  const text = execFileSync('perf', options, {
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  return text.split('\n').flatMap(sampleOf)
}

/** The sample of a line; none if the line has none. */
export function sampleOf(line: string): readonly Sample[] {
  const [, count, place = '', symbol = ''] = LINE.exec(line) ?? []
  if (count === undefined) return []
  const [, name, source = '', at] = FUNCTION.exec(symbol) ?? []
  if (name === undefined) return [{ count: Number(count), place: place.replace(/^.*\/(?!$)/, ''), symbol }]
  return [{ count: Number(count), place: moduleOf(source, Number(at)), symbol: name || '(anonymous)' }]
}

/** Functions whose text the service made: of mappings and schemas. */
const MADE = 'made of the document'

const bundled = new Map<string, readonly string[]>()

/** esbuild writes the name of each module above its code. */
function moduleOf(source: string, at: number): string {
  if (source === '') return MADE
  if (!source.startsWith('/') || !source.includes('/dist/')) return source
  const lines = bundled.get(source) ?? readFileSync(source, 'utf8').split('\n')
  bundled.set(source, lines)
  for (let line = at - 1; line >= 0; line -= 1) {
    const [, module] = /^\s*\/\/ ((?:src|node_modules)\/\S+)$/.exec(lines[line] ?? '') ?? []
    if (module !== undefined) return module
  }
  return source
}

/** In this order: the first that fits. */
const GROUPS: readonly (readonly [group: string, fits: (sample: Sample) => boolean])[] = [
  ['the kernel', ({ place }) => place.startsWith('[')],
  ['JSONata', at(/node_modules\/jsonata/)],
  ['transforms and expressions', at(/^src\/(?:language\/jsonata|pipeline\/stages\/transform)/)],
  ['validation', at(/^src\/(?:language\/(?:json-schema|re2-pattern)|pipeline\/stages\/validate)/)],
  ['validation', ({ symbol, place }) => place === MADE && symbol.startsWith('validate')],
  ['mapping', at(/^src\/(?:language\/|pipeline\/stages\/map)|^made of the document/)],
  ['calls of others', at(/^src\/(?:outbound\/http|pipeline\/(?:requests|stages\/lookup))|node_modules\/undici/)],
  // Only undici brings any, its parser of answers.
  ['calls of others', named(/^JS:wasm-function/)],
  ['the account of a message', at(/^src\/(?:records|endpoints|inbound\/(?:intake|admission)|observe|store|core)/)],
  ['other stages and the server', at(/^src\//)],
  ['node:http and streams, in JavaScript', at(/^node:/)],
  ['other packages', at(/node_modules/)],
  [
    'collection of garbage',
    named(/Scaveng|Mark(?:Compact|ing|er)|Sweep|Evacuat|Heap|RecordWrite|Remembered|YoungGen|Weak|Worklist/),
  ],
  ['reading and writing JSON', named(/Json/)],
  ['promises', named(/Promise|Async|Microtask|Await|Generator/)],
  ['HTTP parser and sockets', named(/llhttp|uv_|StreamBase|TCPWrap|LibuvStream|node::http/)],
  ['compiling', named(/compiler|Compil|turboshaft|maglev|Parser|Bytecode|Interpreter/i)],
  ['built-in functions of V8: calls, fields, texts, maps', named(/^Builtins_/)],
  ['the C library, memory above all', at(/^lib/)],
]

function at(places: RegExp): (sample: Sample) => boolean {
  return ({ place }) => places.test(place)
}

function named(symbols: RegExp): (sample: Sample) => boolean {
  return ({ symbol }) => symbols.test(symbol)
}

export function groupOf(sample: Sample): string {
  return GROUPS.find(([, fits]) => fits(sample))?.[0] ?? 'the rest of V8 and Node.js'
}
