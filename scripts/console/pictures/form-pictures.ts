/** Pictures of the forms of a document: the sections that have most in them. */
import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { startService } from '../../../test/support/service.ts'
import type { Picture } from './pictures.ts'

const sample = (name: string) =>
  readFileSync(new URL(`../../../samples/order-enrichment/${name}`, import.meta.url), 'utf8')

const section = (part: string, prepare?: (page: Page) => Promise<void>): Picture => ({
  name: `form-${part}`,
  start: async () => {
    const service = await startService({ MESSAGE_LOG: 'all' })
    const { _id } = await service.register(JSON.parse(sample('endpoint.json')))
    return {
      origin: `http://127.0.0.1:${service.app.adminPort}`,
      path: `endpoints/${_id}/form?part=${part}`,
      stop: service.stop,
      prepare: async (page) => {
        await page.getByRole('textbox', { name: 'Body', exact: true }).fill(sample('input.json'))
        await page.locator('.result-line').waitFor()
        await prepare?.(page)
      },
    }
  },
})

const openFirst = async (page: Page) => page.locator('.form-card > details > summary').first().click()

export const FORM_PICTURES: readonly Picture[] = [
  section('route'),
  section('callers', (page) => page.getByRole('checkbox').first().check()),
  section('lookups', openFirst),
  section('validation'),
  section('responses', openFirst),
  section('answer', (page) => page.getByRole('checkbox').first().check()),
]
