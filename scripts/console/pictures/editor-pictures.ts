/** Pictures of the editor: a failing stage, all stages green, faults, expressions, and its dialogs. */
import type { Page } from 'playwright-core'
import { json, startService, startUpstream } from '../../../test/support/service.ts'
import { until } from '../../../test/support/until.ts'
import { allPassed, replaceInLine, stageOf } from '../../../test/system/console/editor-page.ts'
import type { Picture, Shot } from './pictures.ts'

/** An endpoint with a lookup, and a message that it refused or took. */
async function startEditor(message: 'refused' | 'done', prepare: NonNullable<Shot['prepare']>): Promise<Shot> {
  const upstream = await startUpstream(() => ({ name: 'Ada Lovelace', ward: '7' }))
  const service = await startService({ MESSAGE_LOG: 'all' })
  const { _id: id } = await service.register({
    name: 'Lab orders',
    endpoint: { pattern: '/lab/orders' },
    inputValidation: {
      type: 'object',
      required: ['patient', 'code'],
      properties: { patient: { type: 'integer' }, code: { type: 'string' } },
    },
    requests: {
      lookup: [{ id: 'patient', config: { url: `${upstream.url}/patients` } }],
      response: [{ id: 'store', config: { method: 'POST', url: `${upstream.url}/results` } }],
    },
    inputTransforms: { total: '$sum(requestBody.lines.amount)' },
    inputMapping: {
      'requestBody.code': 'code',
      'lookupRequests.patient.data.name': 'patient.name',
      'transforms.total': 'total',
      'requestBody.comment': 'note',
    },
  })
  const order = { patient: 17, lines: [{ amount: 1 }, { amount: 2 }] }
  const sent = await service.fetch('/lab/orders', json('POST', message === 'done' ? { ...order, code: 'HB' } : order))
  const messageId = sent.headers.get('x-crosswalk-message-id')
  await until(
    async () => (await fetch(`${service.adminUrl}/messages/${messageId}`)).status,
    (status) => status === 200,
  )
  return {
    origin: service.adminUrl,
    path: `endpoints/${id}/edit?message=${messageId}`,
    prepare,
    stop: async () => {
      await service.stop()
      await upstream.stop()
    },
  }
}

const afterRun = (prepare: (page: Page) => Promise<void>) => async (page: Page) => {
  await allPassed(page)
  await prepare(page)
}

export const EDITOR_PICTURES: readonly Picture[] = [
  {
    name: 'editor-failing-stage',
    start: () => startEditor('refused', (page) => stageOf(page, 'validate').getByText('Validation failed').waitFor()),
  },
  {
    name: 'editor-curl',
    start: () =>
      startEditor('refused', async (page) => {
        await page.getByRole('button', { name: /^Actions of / }).click()
        await page.getByRole('menuitem', { name: 'Copy as curl …' }).click()
        await page.getByRole('group', { name: 'Command' }).waitFor()
      }),
  },
  {
    name: 'editor-green',
    start: () =>
      startEditor(
        'done',
        afterRun(async () => {}),
      ),
  },
  {
    name: 'editor-faults',
    start: () =>
      startEditor(
        'done',
        afterRun(async (page) => {
          await replaceInLine(page, '"output": "JSON"', '"output": "HTML", "colour": 1')
          await page.getByRole('region', { name: 'Faults' }).getByText('2 faults').waitFor()
          await page.getByText('The document has faults, so it does not run.').waitFor()
        }),
      ),
  },
  {
    name: 'editor-expression',
    start: () =>
      startEditor(
        'done',
        afterRun(async (page) => {
          await page.getByRole('button', { name: 'Expressions' }).click()
          await page.getByRole('textbox', { name: 'Expression total' }).waitFor()
        }),
      ),
  },
  {
    name: 'editor-save-test',
    start: () =>
      startEditor(
        'done',
        afterRun(async (page) => {
          await page.getByRole('button', { name: 'Save as test' }).click()
          await page.getByRole('dialog').getByLabel('Outcome').waitFor()
        }),
      ),
  },
  {
    name: 'editor-merge',
    start: async () => {
      const shot = await startEditor(
        'done',
        afterRun(async (page) => {
          await replaceInLine(page, '"requestBody.code": "', '"requestBody.code": "mine.')
          const id = /endpoints\/([0-9a-f]+)/.exec(page.url())?.[1]
          // Another one for each picture.
          const theirs = `theirs${Date.now()}`
          const change = { description: theirs, inputMapping: { 'requestBody.code': `${theirs}.code` } }
          await fetch(`${shot.origin}/endpoints/${id}`, json('PATCH', change))
          await page.getByRole('button', { name: 'Merge …' }).click()
          await page.locator('.diff-view').waitFor()
        }),
      )
      return shot
    },
  },
]
