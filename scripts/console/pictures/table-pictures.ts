/** Pictures of tables, of the codes that messages missed in them, and of a document by example. */
import type { Page } from 'playwright-core'
import { json, startService } from '../../../test/support/service.ts'
import type { Picture } from './pictures.ts'

const UNITS = Array.from({ length: 120 }, (_, at) => `U${at},unit ${at},${at % 7 === 0 ? '' : `ucum-${at}`}`)
const TABLES = {
  sex: 'code,fhir,hl7\nM,male,M\nF,female,F\nU,unknown,U\n',
  units: ['code,name,ucum', ...UNITS].join('\n'),
  ward: 'code,name\n1A,Surgery\n2B,A name of a ward that is much longer than anybody would want it to be\n',
} as const

async function startSample() {
  const service = await startService({ MESSAGE_LOG: 'all' })
  const put = (name: string, body: string) =>
    fetch(`${service.adminUrl}/tables/${name}`, { method: 'PUT', headers: { 'content-type': 'text/csv' }, body })
  for (const [name, body] of Object.entries(TABLES)) await put(name, body)
  await put('sex', TABLES.sex.replace('unknown', 'other'))
  for (const table of ['sex', 'ward']) {
    await service.register({
      name: `Patients by ${table}`,
      endpoint: { pattern: `/by-${table}` },
      inputMapping: { 'requestBody.code': { key: 'is', transform: { function: 'table', parameters: { table } } } },
    })
    for (const code of ['X', 'X', 'W', 'M']) await service.fetch(`/by-${table}`, json('POST', { code }))
  }
  return service
}

const onTables = (name: string, path: string, prepare?: (page: Page) => Promise<void>): Picture => ({
  name,
  start: async () => {
    const service = await startSample()
    const origin = `http://127.0.0.1:${service.app.adminPort}`
    return { origin, path, stop: service.stop, ...(prepare && { prepare }) }
  },
})

/** Pairs of a lab message, whose sender stands at two places. */
const PAIRS = [
  ['4711', 'North Lab', '03.02.1980'],
  ['952', 'City Lab', '31.12.1999'],
  ['12', 'Harbour', '06.05.2001'],
].map(([id, lab = '', born = '']) => [
  `<lab id="${id}">\n  <from>${lab}</from>\n  <by>${lab}</by>\n  <born>${born}</born>\n</lab>`,
  JSON.stringify({ id, source: lab, birthDate: born.split('.').toReversed().join('-') }, null, 2),
])

async function derivePairs(page: Page): Promise<void> {
  for (const [index, [message = '', output = '']] of PAIRS.entries()) {
    if (index > 0) await page.getByRole('button', { name: 'Add a pair' }).click()
    const pair = page.getByRole('group', { name: `Pair ${index + 1}` })
    await pair.getByLabel('Message as sent').fill(message)
    await pair.getByLabel('What it becomes').fill(output)
  }
  await page.getByRole('button', { name: 'Derive the document' }).click()
  await page.getByRole('heading', { name: 'What was found' }).scrollIntoViewIfNeeded()
}

export const TABLE_PICTURES: readonly Picture[] = [
  onTables('tables', 'tables'),
  onTables('tables-rows', 'tables/units'),
  onTables('tables-cell', 'tables/sex', async (page) => {
    await page.getByRole('button', { name: /change fhir of F/ }).click()
  }),
  onTables('tables-paste', 'tables/sex', async (page) => {
    await page.getByRole('button', { name: 'Paste rows …' }).click()
    await page.getByRole('dialog').getByLabel('Rows').fill('A\tother\tA\nF\tfeminine\tF\n')
    await page.getByRole('button', { name: 'Show the changes' }).click()
    await page.getByText('1 row added, 1 row changed.').waitFor()
  }),
  onTables('tables-upload', 'tables', (page) => page.getByRole('button', { name: 'New table …' }).click()),
  onTables('by-example', 'endpoints/by-example', derivePairs),
  onTables('tables-versions', 'tables/sex/versions'),
  onTables('tables-unmapped', 'unmapped', async (page) => {
    await page.getByLabel('fhir of X in sex').fill('other')
  }),
]
