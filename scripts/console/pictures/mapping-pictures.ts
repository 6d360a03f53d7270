/** Pictures of the mapping view. */
import type { Page } from 'playwright-core'
import type { JsonObject } from '../../../src/core/json.ts'
import { json, startService } from '../../../test/support/service.ts'
import { until } from '../../../test/support/until.ts'
import type { Picture } from './pictures.ts'

const MESSAGE = {
  order: 'A-17',
  patient: { family: 'Doe', given: ['Jane', 'Q'], birthDate: '1980-02-03T00:00:00Z', sex: 'F' },
  results: [
    { code: '718-7', value: '13.2', unit: 'g/dL' },
    { code: '4544-3', value: '39', unit: '%' },
  ],
}
const THREE = {
  'requestBody.order': 'identifier[].value',
  'requestBody.patient.family': 'subject.display',
  'requestBody.results[].value': { key: 'component[].valueQuantity.value', transform: 'numberify' },
  'requestBody.ward': { key: 'location', default: 'unknown' },
}

const manyNames = Array.from({ length: 300 }, (_, index) => `${['name', 'code', 'date', 'unit'][index % 4]}${index}`)
const MANY_MESSAGE = { person: Object.fromEntries(manyNames.map((name, index) => [name, index])) }
const MANY = Object.fromEntries(
  manyNames.map((name, index) => [`requestBody.person.${name}`, `entry.${manyNames[(index * 7) % 300]}`]),
)

const picture = (
  name: string,
  inputMapping: JsonObject,
  message: JsonObject | undefined,
  prepare: (page: Page) => Promise<void> = async () => undefined,
): Picture => ({
  name,
  start: async () => {
    const service = await startService({ MESSAGE_LOG: 'all' })
    const { _id: id } = await service.register({ name: 'Lab results', endpoint: { pattern: '/lab' }, inputMapping })
    let search = ''
    if (message !== undefined) {
      await service.fetch('/lab', json('POST', message))
      const list = async () =>
        (await fetch(`${service.adminUrl}/messages`)).json() as Promise<{ messages: { id: string }[] }>
      search = `?message=${(await until(list, ({ messages }) => messages.length > 0)).messages[0]?.id}`
    }
    return {
      origin: `http://127.0.0.1:${service.app.adminPort}`,
      path: `endpoints/${id}/mapping${search}`,
      stop: service.stop,
      prepare: async (page) => {
        if (message !== undefined) await page.getByText('ran dry on').waitFor()
        await prepare(page)
      },
    }
  },
})

/** Only rows that can be seen are on the page. */
async function selectEntry(page: Page, name: RegExp): Promise<void> {
  const list = page.getByRole('grid', { name: 'Entries' })
  await list.scrollIntoViewIfNeeded()
  await list.getByRole('row', { name }).click()
}

const select = (page: Page, name: string) => page.getByRole('row', { name, exact: true }).first().click()

export const MAPPING_PICTURES: readonly Picture[] = [
  picture('mapping-of-few', THREE, MESSAGE, (page) => selectEntry(page, /results/)),
  picture('mapping-of-300', MANY, MANY_MESSAGE, (page) => selectEntry(page, /date2 /)),
  picture('mapping-without-message', THREE, undefined),
  picture('mapping-without-entries', {}, MESSAGE),
  picture('mapping-choices', THREE, MESSAGE, async (page) => {
    await select(page, 'code')
    await page.keyboard.press('m')
    await page.getByRole('combobox', { name: /^Target of/ }).fill('identifier[].value')
    await page.getByRole('combobox', { name: /^Target of/ }).fill('subject.display')
    await page.keyboard.press('Escape')
    await page.getByText('the list of all values').waitFor()
    await page.locator('.written-places').first().waitFor()
  }),
]
