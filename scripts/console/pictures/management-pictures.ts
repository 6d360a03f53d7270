/** Pictures of the overview, of tests, versions and statistics of an endpoint, of the audit log and of keys. */
import type { Page } from 'playwright-core'
import { startServiceWithKeys } from '../../../test/support/api/access/service-with-keys.ts'
import { json, type Service, startService } from '../../../test/support/service.ts'
import { until } from '../../../test/support/until.ts'
import type { Picture, Shot } from './pictures.ts'

const originOf = ({ app }: Service): string => `http://127.0.0.1:${app.adminPort}`

/** An endpoint with versions, notes, tests of which one fails, and messages of which some fail. */
async function startWorkedService(): Promise<Readonly<{ service: Service; id: string }>> {
  const service = await startService()
  const { _id: id } = await service.register({
    name: 'Lab orders',
    endpoint: { pattern: '/lab/orders' },
    labels: { team: 'lab' },
    inputValidation: { type: 'object', required: ['requestBody'], properties: { requestBody: { required: ['nr'] } } },
    inputMapping: { 'requestBody.nr': 'order.number' },
  })
  const change = (note: string, patch: object) =>
    service.fetch(`/endpoints/${id}`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json', 'x-crosswalk-change-note': note },
      body: JSON.stringify(patch),
    })
  await change('The ward comes too', { inputMapping: { 'requestBody.ward': 'order.ward' } })
  await change('Priority is urgent unless given', {
    constants: { priority: 'urgent' },
    inputMapping: { 'constants.priority': 'order.priority' },
    labels: { site: 'north' },
  })
  const tests = [
    {
      name: 'an order of a ward',
      given: { message: { body: { nr: 17, ward: 'A3' } } },
      expect: { outcome: 'done', answer: { body: { order: { number: 17, ward: 'A3', priority: 'urgent' } } } },
    },
    {
      name: 'an order without a priority',
      given: { message: { body: { nr: 18 } } },
      expect: { answer: { body: { order: { number: 18, priority: 'routine' } } } },
    },
    { name: 'an order that was cancelled', skip: 'the lab decides in January', expect: { outcome: 'done' } },
  ]
  await service.fetch(`/endpoints/${id}/tests`, json('PUT', { tests }))
  for (let nr = 0; nr < 12; nr += 1) await service.fetch('/lab/orders', json('POST', nr % 4 === 3 ? {} : { nr }))
  await until(
    async () => (await fetch(`${service.adminUrl}/endpoints/${id}/stats`)).text(),
    (text) => /"failures":3/.test(text),
  )
  return { service, id }
}

const onWorked = (name: string, path: (id: string) => string, prepare?: (page: Page) => Promise<void>): Picture => ({
  name,
  start: async (): Promise<Shot> => {
    const { service, id } = await startWorkedService()
    return { origin: originOf(service), path: path(id), stop: service.stop, ...(prepare && { prepare }) }
  },
})

const onEmpty = (name: string, path: string, prepare?: (page: Page) => Promise<void>): Picture => ({
  name,
  start: async () => {
    const service = await startService()
    return { origin: originOf(service), path, stop: service.stop, ...(prepare && { prepare }) }
  },
})

const asAdmin = (name: string, path: string, prepare?: (page: Page) => Promise<void>): Picture => ({
  name,
  start: async () => {
    const { service, keys } = await startServiceWithKeys()
    return { origin: originOf(service), path, key: keys.admin, stop: service.stop, ...(prepare && { prepare }) }
  },
})

const IMPORTED = `[
  { "name": "Lab orders", "endpoint": { "pattern": "/lab/orders" }, "transformation": { "input": "JSON", "output": "JSON" } },
  { "name": "Lab results", "endpoint": { "pattern": "/lab/results" }, "transformation": { "input": "JSON", "output": "CSV" } }
]`

export const MANAGEMENT_PICTURES: readonly Picture[] = [
  onWorked('overview', () => ''),
  onEmpty('overview-empty', ''),
  onEmpty('endpoint-new', 'endpoints?dialog=new', async (page) => {
    await page.getByLabel('Name').fill('Lab orders')
    await page.getByLabel('A message as sent').fill('{\n  "nr": 17,\n  "ward": "A3"\n}')
  }),
  onWorked(
    'import-plan',
    () => 'endpoints?dialog=import',
    async (page) => {
      await page.getByLabel('Or paste documents').fill(IMPORTED)
      await page.getByRole('button', { name: 'Show the plan' }).click()
      await page.getByRole('table', { name: 'Documents' }).waitFor()
    },
  ),
  onWorked(
    'tests-run',
    (id) => `endpoints/${id}/tests`,
    async (page) => {
      await page.getByRole('button', { name: 'Run all' }).click()
      await page.getByText('1 passed, 1 failed').waitFor()
    },
  ),
  onWorked(
    'tests-editor',
    (id) => `endpoints/${id}/tests`,
    async (page) => {
      await page.getByRole('button', { name: 'Edit JSON: an order of a ward' }).click()
      await page.getByRole('textbox', { name: 'Test', exact: true }).waitFor()
    },
  ),
  onWorked('versions', (id) => `endpoints/${id}/versions`),
  onWorked(
    'versions-restore',
    (id) => `endpoints/${id}/versions`,
    async (page) => {
      await page.getByRole('button', { name: 'Restore version 1' }).click()
      await page.getByRole('dialog').getByText('removed').first().waitFor()
    },
  ),
  onWorked('statistics', (id) => `endpoints/${id}/stats`),
  asAdmin('audit', 'audit'),
  asAdmin('settings', 'settings'),
  asAdmin('keys', 'keys'),
  asAdmin('keys-new', 'keys', (page) => page.getByRole('button', { name: 'New key' }).click()),
]
