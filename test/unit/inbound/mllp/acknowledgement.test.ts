/** What senders over MLLP are answered, in both modes, whatever the delimiters and the charset of their messages. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Failure } from '../../../../src/core/failure.ts'
import { writeAnswers } from '../../../../src/inbound/mllp/acknowledgement.ts'
import { formatType, readHeader, readType } from '../../../../src/outbound/mllp/message-header.ts'

const options = () => {
  let count = 0
  return {
    newControlId: () => {
      count += 1
      return `OWN${count}`
    },
    nowMs: Date.UTC(2026, 10, 28, 7, 5, 3, 4),
  }
}

const answersTo = (message: string | Uint8Array, failure?: Failure, own?: string): readonly string[] =>
  writeAnswers(
    readHeader(typeof message === 'string' ? Buffer.from(message, 'latin1') : message),
    { failure, message: own === undefined ? undefined : Buffer.from(own) },
    options(),
  ).map((answer) => Buffer.from(answer).toString('latin1'))

const TIME = '20261128070503.004+0000'
const LATER = new Failure('OVERLOADED', 'Too many messages.')
const NEVER = new Failure('MAPPING_FAILED', 'It | failed\nat a^b.', { path: 'inputMapping.x' })

const message = (accept = '', application = '') =>
  `MSH|^~\\&|LAB|NORTH|HIS|SOUTH|20260101||ADT^A01^ADT_A01|MSG7|P|2.5|||${accept}|${application}||UNICODE UTF-8\rEVN|A01\r`

describe('the header of a message', () => {
  const cases: readonly (readonly [what: string, content: string, type: string | undefined])[] = [
    ['is read', message(), 'ADT^A01'],
    ['has the delimiters of the message', 'MSH$%~\\&$A$$$$$$ORU%R01$9$P$2.3', 'ORU^R01'],
    ['may end in a line feed', 'MSH|^~\\&|||||||ADT^A04\nPID|1', 'ADT^A04'],
    ['may have no event', 'MSH|^~\\&|||||||ACK|1', 'ACK'],
    ['may have no type', 'MSH|^~\\&|A\rPID|||||||ADT^A04', ''],
    ['may come after line ends and a byte order mark', '\u00ef\u00bb\u00bf\r\nMSH|^~\\&|||||||ADT^A08', 'ADT^A08'],
    ['is not another segment', 'FHS|^~\\&|||||||ADT^A08', undefined],
    ['is not a text', 'MSHall I compare thee', undefined],
    ['is not a part of one', 'MSH', undefined],
    ['is not nothing', '', undefined],
  ]
  for (const [what, content, type] of cases) {
    test(what, () => {
      const header = readHeader(Buffer.from(content, 'latin1'))
      assert.equal(header && formatType(readType(header)), type)
    })
  }
})

describe('the original mode', () => {
  test('answers success with the sender as the receiver, and its control id', () => {
    assert.deepEqual(answersTo(message()), [
      `MSH|^~\\&|HIS|SOUTH|LAB|NORTH|${TIME}||ACK^A01^ACK|OWN1|P|2.5||||||UNICODE UTF-8\rMSA|AA|MSG7\r`,
    ])
  })

  test('says in MSA and ERR what failed, and whether it may succeed later', () => {
    const [later = ''] = answersTo(message(), LATER)
    assert.match(
      later,
      /\rMSA\|AE\|MSG7\|Too many messages\.\rERR\|\|\|207\^Application internal error\^HL70357\|E\|OVERLOADED\|\|\|Too many messages\.\r$/,
    )
    const [never = ''] = answersTo(message(), NEVER)
    assert.match(
      never,
      /\rMSA\|AR\|MSG7\|It \\F\\ failed at a\\S\\b\.\rERR\|.*\|MAPPING_FAILED\|\|inputMapping\.x\|It \\F\\ failed at a\\S\\b\.\r$/,
    )
  })

  test('names a fault of segments where the first one is none of a header', () => {
    const unreadable = new Failure('BODY_UNREADABLE', 'Unreadable.')
    const error = (content: string) => /\rERR\|\|\|(\d+)/.exec(answersTo(content, unreadable)[0] ?? '')?.[1]
    assert.deepEqual([error('PID|1'), error(message())], ['100', '207'])
  })

  test('has the delimiters and the charset of the message', () => {
    const sentence = new Failure('VALIDATION_FAILED', 'Größe 5% — zu $')
    const [latin1 = ''] = answersTo('MSH$%~\\&$A$B$C$D$$$ORU%R01$9$P$2.3$$$$$$8859/1', sentence)
    assert.match(
      latin1,
      /^MSH\$%~\\&\$C\$D\$A\$B\$[\d.+]+\$\$ACK%R01%ACK\$OWN1\$P\$2\.3\$\$\$\$\$\$8859\/1\rMSA\$AR\$9\$Größe 5\\S\\ \? zu \\F\\\r/,
    )
    const [utf8 = ''] = answersTo(message(), sentence)
    assert.ok(Buffer.from(utf8, 'latin1').toString().includes('|Größe 5% — zu $'))
    const [ascii = ''] = answersTo('MSH|^~\\&|Ä|||||||9|P|2.3', sentence)
    assert.match(ascii, /^MSH\|\^~\\&\|\|\|Ä\|.*\|ACK\|OWN1.*\rMSA\|AR\|9\|Gr\?\?e 5% \? zu \$\r/)
  })

  test('answers a frame without a header too', () => {
    const [answer = ''] = answersTo('<html>', NEVER)
    assert.match(answer, /^MSH\|\^~\\&\|\|\|\|\|[\d.+]+\|\|ACK\|OWN1\|P\|2\.5\rMSA\|AR\|\|It/)
  })

  test('has the answer of the endpoint in place of an acknowledgement, if it made one', () => {
    assert.deepEqual(answersTo(message(), undefined, 'MSH|own'), ['MSH|own'])
  })
})

describe('the enhanced mode', () => {
  type Case = readonly [accept: string, application: string, good: string, later: string, never: string]
  const cases: readonly Case[] = [
    ['AL', 'AL', 'CA AA', 'CE', 'CR'],
    ['AL', 'NE', 'CA', 'CE', 'CR'],
    ['AL', '', 'CA', 'CE', 'CR'],
    ['AL', 'ER', 'CA', 'CE', 'CR'],
    ['AL', 'SU', 'CA AA', 'CE', 'CR'],
    ['NE', 'AL', 'AA', 'AE', 'AR'],
    ['', 'AL', 'AA', 'AE', 'AR'],
    ['NE', 'NE', '', '', ''],
    ['NE', 'ER', '', 'AE', 'AR'],
    ['NE', 'SU', 'AA', '', ''],
    ['ER', 'NE', '', 'CE', 'CR'],
    ['ER', 'AL', 'AA', 'CE', 'CR'],
    ['SU', 'NE', 'CA', '', ''],
    ['SU', 'ER', 'CA', 'AE', 'AR'],
    ['al', 'ne', 'CA', 'CE', 'CR'],
    ['other', 'NE', 'CA', 'CE', 'CR'],
    ['""', '""', 'AA', 'AE', 'AR'],
  ]
  for (const [accept, application, ...expected] of cases) {
    test(`MSH-15 ${accept || 'empty'}, MSH-16 ${application || 'empty'}`, () => {
      const codes = [undefined, LATER, NEVER].map((failure) =>
        answersTo(message(accept, application), failure)
          .map((answer) => /\rMSA\|(..)\|MSG7/.exec(answer)?.[1])
          .join(' '),
      )
      assert.deepEqual(codes, expected)
    })
  }

  test('each answer has a control id of its own, and the last asks for no further one', () => {
    const [accept = '', application = ''] = answersTo(message('AL', 'AL'))
    assert.match(accept, /\|OWN1\|P\|2\.5\|\|\|\|\|\|UNICODE/)
    assert.match(application, /\|OWN2\|P\|2\.5\|\|\|NE\|NE\|\|UNICODE/)
  })

  test('the answer of the endpoint follows the accept acknowledgement', () => {
    const answers = answersTo(message('AL', 'AL'), undefined, 'MSH|own')
    assert.equal(answers.length, 2)
    assert.equal(answers[1], 'MSH|own')
  })
})
