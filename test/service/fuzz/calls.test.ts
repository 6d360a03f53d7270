/** Whatever a message has for the URL of a call: it goes where the document says. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { PLAIN } from '../../support/fuzz/documents.ts'
import { openInProcess } from './in-process.ts'
import { outgoingRequests } from './requests.ts'
import { assertStatus, fuzz } from './run.ts'

const service = await openInProcess()
after(() => service.close())

/** Names of the parameters, those that are empty too. */
const parametersOf = (search: string) =>
  search === ''
    ? []
    : search
        .slice(1)
        .split('&')
        .map((one) => one.split('=')[0])

test('any parameters add no segment, parameter or fragment to the URL of a request', async () => {
  await fuzz({ inputs: 6_000, deep: 0.2 }, outgoingRequests, async ({ template, one, two, extra, body }) => {
    const url = { ...(template.includes(':one') && { one }), ...(template.includes(':two') && { two }) }
    const text = `http://stub.invalid/${template}`
    const config = { url: text, params: { url, query: { extra } } }
    const send = await service.tryDocument({ ...PLAIN, requests: { lookup: [{ id: 'call', config }] } })
    if (send === undefined) return false
    service.sent.length = 0
    const { answer } = await send({ body: Buffer.from(body) })
    assertStatus(answer.status, [200, 400], String(answer.body))
    const [sent] = service.sent
    if (sent === undefined) return false
    const { origin, pathname, search, hash } = new URL(sent.url)
    const shape = new URL(text.replaceAll(/:(one|two)/g, 'v'))
    assert.deepEqual([origin, hash], ['http://stub.invalid', ''])
    assert.equal(pathname.split('/').length, shape.pathname.split('/').length, sent.url)
    const added = parametersOf(search).slice(parametersOf(shape.search).length)
    assert.ok(['', 'extra'].includes(added.join()), sent.url)
    return true
  })
})
