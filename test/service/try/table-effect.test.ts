/** How many messages of the log a version of a table maps otherwise. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { JsonObject } from '../../../src/core/json.ts'
import { call } from '../../support/inbound/http/management/call.ts'
import { describeLogged, type LogStage } from '../../support/records/message-log/log-stage.ts'
import { json } from '../../support/service.ts'

describeLogged('the effect of a version of a table', (stage: LogStage) => {
  const put = (csv: string) =>
    call(stage.service.adminUrl, 'PUT', '/tables/unit', { headers: { 'content-type': 'text/csv' }, body: csv })
  const effect = async (version: number, query = '') =>
    (await stage.get(`/tables/unit/versions/${version}/effect${query}`)).json<JsonObject>()
  const register = (name: string, fields: JsonObject = {}) =>
    stage.service.register({
      name,
      endpoint: { pattern: `/${name}` },
      inputMapping: {
        'requestBody.unit': {
          key: 'unit',
          transform: { function: 'table', parameters: { table: 'unit', missing: 'keep' } },
        },
      },
      ...fields,
    })
  const send = async (name: string, ...units: readonly string[]) => {
    for (const unit of units) await stage.service.fetch(`/${name}`, json('POST', { unit }))
  }

  it('counts the messages that read what it changes, as far as they can be judged', async () => {
    await put('code,ucum\na,1\nb,2\n')
    await register('whole')
    await register('bodiless', { messageLog: 'metadata' })
    await send('whole', 'a', 'b', 'c', 'd')
    await send('bodiless', 'b', 'c')
    await stage.recorded('', 6)
    await put('code,ucum\na,1\nb,3\nc,4\n')
    const second = await effect(2)
    assert.deepEqual(
      { ...second, ids: (second.ids as string[]).length },
      { before: 1, messages: 6, changed: 3, unknown: 1, ids: 3 },
    )
    assert.deepEqual(await effect(2, '?limit=1'), {
      before: 1,
      messages: 1,
      changed: 1,
      unknown: 0,
      ids: [(second.ids as string[])[0] ?? ''],
    })
    const { before, changed } = await effect(1)
    assert.deepEqual([before, changed], [0, 2])
    await put('code,ucum\na,1\nb,3\nc,4\ne,5\n')
    assert.equal((await effect(3)).changed, 0)
    assert.equal((await effect(9)).code, 'VERSION_UNKNOWN')
  })
})
