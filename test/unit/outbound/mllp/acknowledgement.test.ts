import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readAcknowledgement, readControlId } from '../../../../src/outbound/mllp/acknowledgement.ts'
import { checkMllpUrl, formatMllpUrl, parseMllpUrl } from '../../../../src/outbound/mllp/mllp-url.ts'

const bytes = (text: string) => Buffer.from(text, 'latin1')

const acknowledgements: readonly [name: string, text: string, read: object | undefined][] = [
  ['AA', 'MSH|^~\\&|a\rMSA|AA|7\r', { status: 200, controlId: '7' }],
  ['CA', 'MSH|^~\\&|a\rMSA|CA|7|fine\r', { status: 200, controlId: '7' }],
  ['AE', 'MSH|^~\\&|a\rMSA|AE|7\rERR|…\r', { status: 503, controlId: '7' }],
  ['CE', 'MSH|^~\\&|a\rMSA|CE|7\r', { status: 503, controlId: '7' }],
  ['AR', 'MSH|^~\\&|a\rMSA|AR|7\r', { status: 422, controlId: '7' }],
  ['CR', 'MSH|^~\\&|a\rMSA|CR|7\r', { status: 422, controlId: '7' }],
  ['its own separator', 'MSH#^~\\&#a\rMSA#AA#7\r', { status: 200, controlId: '7' }],
  ['segments between', 'MSH|^~\\&|a\rSFT|x\rMSA|AA|7\r', { status: 200, controlId: '7' }],
  ['line feeds', 'MSH|^~\\&|a\r\nMSA|AA|7\r\n', { status: 200, controlId: '7' }],
  ['no end of the last segment', 'MSH|^~\\&|a\rMSA|AA|7', { status: 200, controlId: '7' }],
  ['no control id', 'MSH|^~\\&|a\rMSA|AA\r', { status: 200, controlId: '' }],
  ['bytes that are no UTF-8', 'MSH|^~\\&|\xe9\xff\rMSA|AA|\xe9\r', { status: 200, controlId: '\xe9' }],
  ['an unknown code', 'MSH|^~\\&|a\rMSA|OK|7\r', { status: undefined, controlId: '7' }],
  ['a name of the prototype', 'MSH|^~\\&|a\rMSA|constructor|7\r', { status: undefined, controlId: '7' }],
  ['no MSA', 'MSH|^~\\&|a\rPID|1\r', undefined],
  ['a segment that starts alike', 'MSH|^~\\&|a\rMSAX|AA|7\r', undefined],
  ['no header', 'MSA|AA|7\r', undefined],
  ['a header alone', 'MSH', undefined],
  ['nothing', '', undefined],
  ['another text', 'HTTP/1.1 400 Bad Request', undefined],
]

for (const [name, text, read] of acknowledgements) {
  test(`an acknowledgement: ${name}`, () => {
    const isAccept = /^C/.test(name)
    assert.deepEqual(readAcknowledgement(bytes(text)), read && { ...read, isAccept })
  })
}

test('MSH-10 of a message is its control id', () => {
  assert.equal(readControlId(bytes('MSH|^~\\&|A|B|C|D|E|F|ADT^A01|id 7|P\rPID|1\r')), 'id 7')
  assert.equal(readControlId(bytes('MSH#^~\\&#A#B#C#D#E#F#ADT^A01#7#P\r')), '7')
  assert.equal(readControlId(bytes('MSH|^~\\&|A|B|C|D|E|F|ADT^A01||P\r')), undefined)
  assert.equal(readControlId(bytes('MSH|^~\\&|A\r')), undefined)
  assert.equal(readControlId(bytes('{"a":1}')), undefined)
})

const sound: readonly [url: string, host: string, port: number][] = [
  ['mllp://lab.example.org:2575', 'lab.example.org', 2575],
  ['MLLP://LAB.example.org:80', 'lab.example.org', 80],
  ['mllp://127.0.0.1:1', '127.0.0.1', 1],
  ['mllp://0x7f.1:2575', '127.0.0.1', 2575],
  ['mllp://[::1]:65535', '::1', 65535],
]
for (const [url, host, port] of sound) {
  test(`${url} is a host and a port`, () => {
    assert.deepEqual(parseMllpUrl(url), { host, port })
    assert.equal(checkMllpUrl(url), undefined)
    assert.deepEqual(parseMllpUrl(formatMllpUrl({ host, port })), { host, port })
  })
}

const faulty: readonly [url: string, fault: RegExp][] = [
  ['mllp://lab', /needs a port/],
  ['mllp://[::1]', /needs a port/],
  ['mllp://lab:2575/', /host and a port alone/],
  ['mllp://lab:2575/in?a=1', /host and a port alone/],
  ['mllp://lab:2575#a', /host and a port alone/],
  ['mllp://user:secret@lab:2575', /credentials/],
  ['mllp://lab:0', /no valid host and port/],
  ['mllp://lab:65536', /no valid host and port/],
  ['mllp://:2575', /no valid host and port/],
  ['mllp://', /needs a port/],
  ['mllp://a b:2575', /no valid host and port/],
  ['mllp://${env:HOST}:2575', /secrets/],
]
for (const [url, fault] of faulty) {
  test(`${url} is refused`, () => {
    assert.equal(parseMllpUrl(url), undefined)
    assert.match(checkMllpUrl(url) ?? '', fault)
  })
}
