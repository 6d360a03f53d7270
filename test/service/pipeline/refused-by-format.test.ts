/** What each format refuses: a row for each format, a column for each fault that a body or an output can have. What it takes: parse.test.ts. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Json } from '../../../src/core/json.ts'
import { CODECS } from '../../../src/formats/codecs.ts'
import { write } from '../../../src/pipeline/stages/serialise.ts'
import { json, type Service, startService } from '../../support/service.ts'

type Key = keyof typeof CODECS

/** What a message with such a body fails with. */
const BODY_FAULTS = {
  'cut short': 'BODY_UNREADABLE',
  'of another format': 'BODY_UNREADABLE',
  'nothing but white space': 'BODY_UNREADABLE',
  'not valid in its charset': 'BODY_UNREADABLE',
  'of 65 levels': 'BODY_TOO_DEEP',
  'of 100,000 levels': 'BODY_TOO_DEEP',
} as const

/** What says it, or 'never': no body of the format has the fault. */
type Bodies = Readonly<Record<keyof typeof BODY_FAULTS, readonly [body: string | Uint8Array, says: RegExp] | 'never'>>

type OutputFault = 'with a space in a key' | 'with an empty key' | 'with a control character'
/** 'written': the format can hold it. */
type Outputs = Readonly<Record<OutputFault, readonly [output: Json, says: RegExp] | 'written'>>

const brackets = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
const elements = (depth: number) => '<a>'.repeat(depth) + '</a>'.repeat(depth)
const levels = /64 levels/

const REFUSED = {
  json: {
    bodies: {
      'cut short': ['{"secret":', /line 1, column 11/],
      'of another format': ['<secret/>', /line 1, column 1/],
      'nothing but white space': [' ', /empty/],
      'not valid in its charset': [Buffer.of(0x22, 0xff, 0x22), /utf-8/],
      'of 65 levels': [brackets(65), levels],
      'of 100,000 levels': [brackets(100_000), levels],
    },
    outputs: {
      'with a space in a key': 'written',
      'with an empty key': 'written',
      'with a control character': 'written',
    },
  },
  xml: {
    bodies: {
      'cut short': ['<secret>', /unclosed tag at line 1, column 8/],
      'of another format': ['{"secret":1}', /line 1/],
      'nothing but white space': [' ', /not well-formed/],
      'not valid in its charset': [Buffer.from('<m>\u00fc</m>', 'latin1'), /utf-8/],
      'of 65 levels': [elements(65), levels],
      'of 100,000 levels': [elements(100_000), levels],
    },
    outputs: {
      'with a space in a key': [{ m: { 'a b': 1 } }, /at "m\.a b", "a b" cannot be the name/],
      'with an empty key': [{ m: { '': 1 } }, /"" cannot be the name/],
      'with a control character': [{ m: '\u0001' }, /at "m", the value holds the character U\+0001/],
    },
  },
  hl7v2: {
    bodies: {
      'cut short': ['MSH|', /Segment 1 \(MSH\)/],
      'of another format': ['{"secret":1}', /segment 1 is none/],
      'nothing but white space': [' ', /segment 1 is none/],
      'not valid in its charset': [Buffer.from('MSH|^~\\&||||||||||||||||UNICODE UTF-8|\xfc', 'latin1'), /utf-8/],
      'of 65 levels': 'never',
      'of 100,000 levels': 'never',
    },
    outputs: {
      'with a space in a key': [{ MSH: [], 'a b': 1 }, /no segment MSH/],
      'with an empty key': [{ MSH: [{ 3: { '': 1 } }] }, /at "MSH\[0\]\.3", "" is not the number/],
      'with a control character': 'written',
    },
  },
  csv: {
    bodies: {
      'cut short': ['a,b\n1,2\n"secret,', /row at line 3, a quoted value does not end/],
      'of another format': ['a\n{"secret":1,"b":2}', /row at line 2, a value has a quote/],
      'nothing but white space': ['\r\n\r\n', /empty/],
      'not valid in its charset': [Buffer.of(0x61, 0x0a, 0xff), /utf-8/],
      'of 65 levels': 'never',
      'of 100,000 levels': 'never',
    },
    outputs: {
      'with a space in a key': 'written',
      'with an empty key': 'written',
      'with a control character': 'written',
    },
  },
  form: {
    bodies: {
      'cut short': 'never',
      'of another format': 'never',
      'nothing but white space': 'never',
      'not valid in its charset': ['a=1&secret=%FF', /field 2 is not valid in its charset/],
      'of 65 levels': 'never',
      'of 100,000 levels': 'never',
    },
    outputs: {
      'with a space in a key': 'written',
      'with an empty key': 'written',
      'with a control character': 'written',
    },
  },
  text: {
    bodies: {
      'cut short': 'never',
      'of another format': 'never',
      'nothing but white space': 'never',
      'not valid in its charset': [Buffer.of(0x61, 0xff), /utf-8/],
      'of 65 levels': 'never',
      'of 100,000 levels': 'never',
    },
    outputs: {
      'with a space in a key': [{ text: 'x', 'a b': 1 }, /at "a b", only "text" can be written/],
      'with an empty key': [{ '': 1 }, /needs an object with a string "text"/],
      'with a control character': 'written',
    },
  },
  ndjson: {
    bodies: {
      'cut short': ['{"secret":1}\n{"secret":', /line 2, column 11/],
      'of another format': ['<secret/>', /line 1, column 1/],
      'nothing but white space': 'never',
      'not valid in its charset': [Buffer.of(0x22, 0xff, 0x22), /utf-8/],
      'of 65 levels': [`1\n${brackets(65)}`, /62 levels at line 2/],
      'of 100,000 levels': [brackets(100_000), /62 levels/],
    },
    outputs: {
      'with a space in a key': 'written',
      'with an empty key': 'written',
      'with a control character': 'written',
    },
  },
} as const satisfies Readonly<Record<Key, Readonly<{ bodies: Bodies; outputs: Outputs }>>>

let service: Service
before(async () => {
  service = await startService()
  for (const [key, { name }] of Object.entries(CODECS)) {
    const reads = { input: name, output: 'JSON' }
    await service.register({ endpoint: { pattern: `/read/${key}` }, transformation: reads })
    await service.register({ endpoint: { pattern: `/write/${key}` }, transformation: { input: 'JSON', output: name } })
  }
})
after(() => service.stop())

const send = (key: string, body: string | Uint8Array, contentType: string) =>
  service.fetch(`/read/${key}`, { method: 'POST', headers: { 'content-type': contentType }, body: Buffer.from(body) })

for (const [key, { bodies, outputs }] of Object.entries(REFUSED) as [Key, (typeof REFUSED)[Key]][]) {
  const codec = CODECS[key]
  describe(codec.name, () => {
    for (const [fault, cell] of Object.entries(bodies as Bodies)) {
      if (cell === 'never') continue
      it(`refuses a body ${fault}`, async () => {
        const reply = await send(key, cell[0], codec.mediaType)
        const { code, stage, path, error } = reply.json<{ code: string; stage: string; path: string; error: string }>()
        const expected = BODY_FAULTS[fault as keyof typeof BODY_FAULTS]
        assert.deepEqual([reply.status, code, stage, path], [400, expected, 'parse', 'transformation.input'])
        assert.match(error, cell[1])
        assert.doesNotMatch(error, /secret/)
      })
    }

    it('refuses a body of another media type, or in an unknown charset', async () => {
      const others = Object.values(CODECS).filter((other) => other !== codec)
      const types = [
        `${codec.mediaType}; charset=klingon`,
        'application/octet-stream',
        ...others.map((one) => one.mediaType),
      ]
      for (const type of types) {
        const reply = await send(key, 'x', type)
        assert.deepEqual([reply.status, reply.json().code], [415, 'MEDIA_TYPE_WRONG'], reply.text)
      }
    })

    for (const [fault, cell] of Object.entries(outputs as Outputs)) {
      if (cell === 'written') continue
      it(`refuses an output ${fault}, naming the place`, async () => {
        const reply = await service.fetch(`/write/${key}`, json('POST', cell[0]))
        assert.equal(reply.status, 500)
        assert.equal(reply.headers.get('content-type')?.split(';')[0], codec.mediaType)
        for (const text of [/SERIALISE_FAILED/, /serialise/, cell[1]]) assert.match(reply.text, text)
      })
    }
  })
}

it('what is too long or too deep for a text is refused', () => {
  let deep: Json = []
  for (let depth = 0; depth < 100_000; depth++) deep = [deep]
  for (const codec of Object.values(CODECS)) assert.throws(() => write(deep, codec), { code: 'SERIALISE_FAILED' })
})
