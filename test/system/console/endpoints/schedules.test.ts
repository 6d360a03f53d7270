/** Schedules in the console: what an endpoint shows of its own, a run on request, and replays of runs. */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import type { JsonObject } from '../../../../src/core/json.ts'
import { json, startUpstream } from '../../../support/service.ts'
import { until } from '../../../support/until.ts'
import { NO_BROWSER } from '../browser.ts'
import { type ConsoleOptions, type ConsolePage, openConsole } from '../console-page.ts'
import { allPassed, stageOf } from '../editor-page.ts'

const DAILY = { cron: '30 2 * * *', timezone: 'Europe/Berlin' }

/** Polls an upstream, whose answer `answer` changes. */
async function openPoll(t: TestContext, options: ConsoleOptions = {}, schedule: JsonObject = DAILY) {
  let answer: JsonObject = { results: [1] }
  let status = 200
  let held: Promise<void> | undefined
  const upstream = await startUpstream(async (_request, response) => {
    await held
    response.statusCode = status
    return answer
  })
  t.after(() => upstream.stop())
  const opened = await openConsole(t, { ...options, env: { MESSAGE_LOG: 'all', ...options.env } })
  const document = {
    name: 'Results of the day',
    transformation: { output: 'JSON' },
    schedule,
    requests: { lookup: [{ id: 'lab', config: { url: upstream.url } }] },
    inputMapping: { 'timestamps.scheduledFor': 'due', 'lookupRequests.lab.data.results': 'results' },
  }
  const register = async () => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${opened.keys?.author ?? ''}` }
    const created = await fetch(`${opened.service.adminUrl}/endpoints`, { ...json('POST', document), headers })
    assert.equal(created.status, 201)
    return ((await created.json()) as { _id: string })._id
  }
  return {
    ...opened,
    upstream,
    id: await register(),
    set: (changes: Readonly<{ answer?: JsonObject; status?: number; held?: Promise<void> }>) => {
      answer = changes.answer ?? answer
      status = changes.status ?? status
      held = changes.held
    },
  }
}

/** Out: the id of the message, whose page is open then. */
async function runNow({ page }: ConsolePage): Promise<string> {
  await page.getByRole('button', { name: 'Run now …' }).click()
  const dialog = page.getByRole('dialog', { name: 'Run the schedule now' })
  await dialog.getByRole('button', { name: 'Run now', exact: true }).click()
  await dialog.getByRole('link', { name: 'Open the message' }).click()
  await page.getByRole('heading', { name: /^Message / }).waitFor()
  return new URL(page.url()).pathname.split('/').at(-1) ?? ''
}

describe('an endpoint with a schedule alone', { skip: NO_BROWSER }, () => {
  test('shows its times in the list and on its pages, and runs now', async (t) => {
    const poll = await openPoll(t)
    const { page, open, checkAccessibility, id } = poll
    await open('endpoints')
    const row = page.getByRole('row', { name: /Results of the day/ })
    await row.getByText('schedule 30 2 * * * Europe/Berlin').waitFor()
    await row.getByText(/^Next run: /).waitFor()
    assert.equal(await row.getByText('Last run').count(), 0)
    await checkAccessibility()
    await open(`endpoints/${id}/stats`)
    const head = page.locator('.endpoint-head')
    await head.getByText('schedule 30 2 * * * Europe/Berlin').waitFor()
    await head.getByText(/^Next run: \d/).waitFor()
    await page.getByRole('button', { name: /^Actions of / }).click()
    const curl = page.getByRole('menuitem', { name: 'Copy as curl …' })
    assert.deepEqual([await curl.isDisabled(), await curl.innerText()], [true, 'Copy as curl …\nIt has no route.'])
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Run now …' }).click()
    const dialog = page.getByRole('dialog', { name: 'Run the schedule now' })
    await dialog.getByText('Version 1 of Results of the day runs once').waitFor()
    await checkAccessibility()
    assert.equal(poll.upstream.received.length, 0)
    await dialog.getByRole('button', { name: 'Run now', exact: true }).click()
    await dialog.getByText('done').waitFor()
    await checkAccessibility()
    assert.equal(poll.upstream.received.length, 1)
    await dialog.getByRole('link', { name: 'Open the message' }).click()
    await page.getByText('by its schedule', { exact: true }).waitFor()
    const message = new URL(page.url()).pathname
    await open('endpoints')
    await row.locator('.schedule-facts').getByText('done').waitFor()
    await row.locator('.schedule-facts').getByRole('link').click()
    await page.waitForURL(`**${message}`)
  })

  test('shows why a run failed, and whether one is under way', async (t) => {
    const poll = await openPoll(t)
    const { page, open, id } = poll
    const { promise, resolve } = Promise.withResolvers<void>()
    poll.set({ status: 500, held: promise })
    await open(`endpoints/${id}/stats`)
    await page.getByRole('button', { name: 'Run now …' }).click()
    const dialog = page.getByRole('dialog', { name: 'Run the schedule now' })
    await dialog.getByRole('button', { name: 'Run now', exact: true }).click()
    await until(
      () => poll.upstream.received.length,
      (count) => count === 1,
    )
    const other = await openConsole(t, { of: poll.service })
    await other.open(`endpoints/${id}/stats`)
    await other.page.getByText('running since').waitFor()
    await other.page.getByRole('button', { name: 'Run now …' }).click()
    await other.page.getByRole('dialog').getByRole('button', { name: 'Run now', exact: true }).click()
    await other.page.getByRole('alert').getByText('SCHEDULE_BUSY').waitFor()
    resolve()
    await dialog.getByText('LOOKUP_REFUSED', { exact: true }).waitFor()
    await dialog.getByText('failed').waitFor()
  })

  test('counts the times that passed during a run', async (t) => {
    const poll = await openPoll(t, {}, { every: '1s' })
    const { promise, resolve } = Promise.withResolvers<void>()
    poll.set({ held: promise })
    await until(
      () => poll.upstream.received.length,
      (count) => count === 1,
    )
    // Two more times of the schedule.
    const schedule = () => fetch(`${poll.service.adminUrl}/endpoints/${poll.id}/schedule`)
    await until(
      async () => (await (await schedule()).json()) as { next: string },
      ({ next }) => Date.now() > Date.parse(next) + 1_000,
    )
    poll.set({})
    resolve()
    await poll.open(`endpoints/${poll.id}/stats`)
    await poll.page.getByText(/times? skipped, as a run took longer/).waitFor()
    await poll.checkAccessibility()
  })

  test('is run by operators alone', async (t) => {
    const { page, open, id } = await openPoll(t, { role: 'viewer' })
    await open(`endpoints/${id}/stats`)
    const button = page.getByRole('button', { name: 'Run now …' })
    await button.waitFor()
    assert.equal(await button.getAttribute('aria-disabled'), 'true')
  })

  test('is tried in the editor without a body, as a run that is due now', async (t) => {
    const { page, open, checkAccessibility, id, service } = await openPoll(t)
    await open(`endpoints/${id}/edit`)
    await stageOf(page, 'lookup').waitFor()
    await page
      .locator('.endpoint-head')
      .getByText(/^Next run: /)
      .waitFor()
    assert.equal(await page.getByLabel('Body', { exact: true }).count(), 0)
    await page.getByLabel('Due', { exact: true }).fill('2026-03-01T01:30:00+01:00')
    await page.getByLabel(/^Make lookups without an answer/).check()
    await allPassed(page)
    await page.getByText('"2026-03-01T00:30:00.000Z"').first().waitFor()
    await checkAccessibility()
    await page.getByRole('button', { name: 'Save as test …' }).click()
    const dialog = page.getByRole('dialog', { name: 'Save as test' })
    await dialog.getByLabel('Name').fill('a night')
    await dialog.getByRole('button', { name: 'Save the test' }).click()
    await dialog.waitFor({ state: 'detached' })
    const stored = await fetch(`${service.adminUrl}/endpoints/${id}/tests`)
    const { tests } = (await stored.json()) as { tests: { given: { message: JsonObject } }[] }
    assert.deepEqual(tests[0]?.given.message, { timestamps: { scheduledFor: '2026-03-01T00:30:00.000Z' } })
    await open(`endpoints/${id}/edit?test=a%20night`)
    await allPassed(page)
  })

  test('fits at 360 pixels', async (t) => {
    const { page, open, id } = await openPoll(t, { width: 360 })
    for (const path of ['endpoints', `endpoints/${id}/stats`]) {
      await open(path)
      await page.getByText(/^Next run: /).waitFor()
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 360)
    }
  })
})

describe('a replay of a run', { skip: NO_BROWSER }, () => {
  const openReplay = async ({ page }: ConsolePage) => {
    await page.getByRole('button', { name: 'Replay …' }).click()
    const dialog = page.getByRole('dialog', { name: 'Replay the message' })
    await dialog.waitFor()
    return dialog
  }

  test('uses the recorded answers of its lookups, or asks again', async (t) => {
    const poll = await openPoll(t)
    const { open, checkAccessibility, upstream } = poll
    await open(`endpoints/${poll.id}/stats`)
    const run = await runNow(poll)
    for (const [choice, asked, says] of [
      ['recorded', 1, /the same as then/],
      ['again', 2, /makes another message/],
    ] as const) {
      await open(`messages/${run}`)
      const dialog = await openReplay(poll)
      if (choice === 'again') await dialog.getByLabel('Lookups').selectOption(choice)
      assert.equal(await dialog.getByLabel('Lookups').inputValue(), choice)
      await dialog.getByText(says).waitFor()
      assert.equal(await dialog.getByLabel('With another body').count(), 0)
      await checkAccessibility()
      await dialog.getByRole('button', { name: 'Replay now' }).click()
      await dialog.getByText(/"lookups"/).waitFor()
      assert.equal(await dialog.getByText('used the answers that were recorded').count(), choice === 'recorded' ? 1 : 0)
      assert.equal(upstream.received.length, asked)
    }
  })

  test('asks again where its answers are masked, alone and in a plan', async (t) => {
    const poll = await openPoll(t, { env: { REDACT_PATHS: 'ssn' } })
    const { page, open, checkAccessibility, upstream } = poll
    poll.set({ answer: { results: [1], ssn: '123-45-6789' } })
    await open(`endpoints/${poll.id}/stats`)
    const run = await runNow(poll)
    await page.getByText(/answers of its lookups are masked/).waitFor()
    const filters = json('POST', { id: [run], outcome: ['done'] })
    const planned = await fetch(`${poll.service.adminUrl}/messages/replay`, filters)
    assert.equal(planned.status, 201)
    const { id: plan } = (await planned.json()) as { id: string }
    const dialog = await openReplay(poll)
    await dialog.getByText('Its lookups are asked again.').waitFor()
    assert.equal(await dialog.getByLabel('Lookups').count(), 0)
    await checkAccessibility()
    await open(`replays/${plan}`)
    await page.getByText('1 of them can run if their lookups are asked again').waitFor()
    await checkAccessibility()
    await page.getByRole('button', { name: 'Plan again, with lookups asked again …' }).click()
    await page.getByText('with lookups asked again', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Run one first' }).click()
    await until(
      () => upstream.received.length,
      (count) => count === 2,
    )
    await open(`messages/${run}`)
    const after = await openReplay(poll)
    await after.getByRole('button', { name: 'Replay now' }).click()
    await after.getByRole('link', { name: 'Open the replay' }).waitFor()
    assert.equal(upstream.received.length, 3)
  })

  test('asks nothing of messages that their senders made', async (t) => {
    const poll = await openPoll(t)
    await poll.service.register({ name: 'Sent', endpoint: { pattern: '/sent' } })
    const sent = await poll.service.fetch('/sent', json('POST', { a: 1 }))
    await poll.open(`messages/${sent.headers.get('x-crosswalk-message-id')}`)
    const dialog = await openReplay(poll)
    await dialog.getByLabel('With another body').waitFor()
    assert.equal(await dialog.getByLabel('Lookups').count(), 0)
  })
})
