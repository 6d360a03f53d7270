/**
 * What malformed bodies of 1 MiB cost the service, beside a plain one of the same size. Processor time of the whole
 * process, the least of some rounds, as the wall clock includes what else the machine does; it is reported with each test.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Body, type Corpus, startCorpus } from '../../service/corpus/corpus.ts'
import { startCpuTime } from '../../support/cpu-time.ts'

/** By the contract: an answer within 500 ms. */
const MAX_MS = 500
const ROUNDS = 3
/** The limit of a body, less what closes it. */
const SIZE = 1_048_576 - 100

const filled = (before: string, unit: string, after = ''): string =>
  before + unit.repeat(Math.floor((SIZE - before.length - after.length) / unit.length)) + after

const entities = Array.from({ length: 9 }, (_, n) => `<!ENTITY e${n + 1} "${`&e${n};`.repeat(10)}">`).join('')

/** The format is the first word of the name. */
type CostCase = [name: string, status: number, body: Body]

const CASES: readonly CostCase[] = [
  ['JSON: plain', 200, filled('[', '{"a":"text","b":1.5},', '0]')],
  ['JSON: brackets, open', 400, filled('', '[')],
  ['JSON: brackets, closed', 400, '['.repeat(SIZE / 2) + ']'.repeat(SIZE / 2)],
  ['JSON: objects, open', 400, filled('', '{"a":')],
  ['JSON: too deep at the end', 400, filled('[', '[[]],', '['.repeat(64))],
  ['JSON: wrong in the last place', 400, filled('[', '"a\\n",', ']')],
  ['JSON: a text that does not end', 400, filled('"', '\\\\')],
  ['JSON: one wrong byte, the last', 400, Buffer.from(filled('"', 'x', 'ÿ"'), 'latin1')],
  ['JSON: lines, wrong in the last', 400, filled('[', '\n', 'x')],
  ['JSON: a number of digits', 400, filled('', '9')],
  ['XML: plain', 200, filled('<m>', '<i a="1">text</i>', '</m>')],
  ['XML: elements, open', 400, filled('', '<a>')],
  ['XML: elements, closed', 400, '<a>'.repeat(140_000) + '</a>'.repeat(140_000)],
  ['XML: elements, wide and open', 400, filled('<m>', '<a/>')],
  ['XML: entities within entities', 400, filled(`<!DOCTYPE m [<!ENTITY e0 "lol">${entities}]><m>`, '&e9;', '</m>')],
  ['XML: one long entity, often', 400, filled(`<!DOCTYPE m [<!ENTITY e "${'x'.repeat(500_000)}">]><m>`, '&e;', '</m>')],
  ['XML: declarations of entities', 400, filled('<!DOCTYPE m [', '<!ENTITY e "x">')],
  ['XML: entities that are not declared', 400, filled('<m>', '&nope;', '</m>')],
  ['XML: references to characters', 200, filled('<m>', '&#x41;', '</m>')],
  [
    'XML: attributes, one twice',
    400,
    `<m ${Array.from({ length: 9_000 }, (_, n) => `a${n}="${'x'.repeat(100)}"`).join(' ')} a0=""/>`,
  ],
  ['XML: attributes, too many', 413, `<m ${Array.from({ length: 80_000 }, (_, n) => `a${n}=""`).join(' ')}/>`],
  ['XML: a comment that does not end', 400, filled('<m><!--', '- ')],
  ['XML: CDATA that does not end', 400, filled('<m><![CDATA[', ']]')],
  ['XML: a tag that does not end', 400, filled('<m ', ' ')],
  ['XML: a name that does not end', 400, filled('<', 'n')],
]

let corpus: Corpus
before(async () => {
  corpus = await startCorpus()
})
after(() => corpus.stop())

for (const [name, status, body] of CASES) {
  test(`a body of 1 MiB is answered in time: ${name}`, async (context) => {
    const costsMs: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const cpuMs = startCpuTime()
      const reply = await corpus[name.startsWith('JSON') ? 'json' : 'xml']({ name, body })
      costsMs.push(cpuMs())
      assert.equal(reply.status, status, reply.text.slice(0, 200))
    }
    const minMs = Math.min(...costsMs)
    context.diagnostic(`${minMs.toFixed(0)} ms: ${name}`)
    assert.ok(minMs < MAX_MS, `${minMs} ms of processor time`)
  })
}
