/** The consumers of topics on the overview: what each has started, and where its partitions stand. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { consumerUntil, startBench } from '../../../support/broker/broker.ts'
import { kafkaForTests } from '../../../support/services/kafka.ts'
import { startUpstream } from '../../broker/upstream.ts'
import { NO_BROWSER } from '../browser.ts'
import { openConsole } from '../console-page.ts'

const kafka = await kafkaForTests()

/** In partition 0 one record fails and waits, in partition 1 one is under way; those behind them are done. */
const RECORDS = [
  { key: 'fails', partition: 0 },
  { key: 'a', partition: 0 },
  { key: 'fails', partition: 0 },
  { key: 'b', partition: 0 },
  { key: 'held', partition: 1 },
  { key: 'c', partition: 1 },
] as const

describe('the consumers of topics', { skip: NO_BROWSER || kafka.skip }, () => {
  test('show under way, retrying, holes and the oldest record, of all partitions and of each', async (test) => {
    const { service, topics, stop } = await startBench(kafka.brokers, {
      KAFKA_RETRY_PAUSES_MS: '600000',
      MESSAGE_TIMEOUT_MS: '600000',
    })
    const upstream = await startUpstream((body, _earlier, response) => {
      if (body.includes('fails')) response.writeHead(503).end('{}')
      else if (!body.includes('held')) response.end('{}')
    })
    test.after(async () => {
      // The record that it holds ends with it, so that the service stops at once.
      await upstream.close()
      await stop()
    })
    const topic = await topics.create(2)
    await topics.produce(
      topic,
      RECORDS.map(({ key, partition }) => ({
        key: Buffer.from(key),
        value: Buffer.from(JSON.stringify({ key })),
        partition,
      })),
    )
    const { _id } = await service.register({
      name: 'Admissions',
      endpoint: { pattern: '/admissions' },
      kafkaConsumerTopic: topic,
      kafka: { order: 'key' },
      requests: { response: { id: 'out', timeoutMs: 300_000, config: { url: upstream.url } } },
    })
    await consumerUntil(service, _id, (one) => one.underWay === 1 && one.retrying === 1 && one.holes === 3)
    const { page, open, checkAccessibility } = await openConsole(test, { of: service })
    await open('')
    const panel = page.getByRole('region', { name: 'Consumers of topics' })
    await panel.getByText('lag 6', { exact: true }).waitFor()
    for (const [text, meaning] of [
      ['1 under way', /run now/],
      ['1 retrying', /next attempt/],
      ['3 holes', /beyond the committed offset/],
      ['oldest', /was started/],
    ] as const) {
      assert.match((await panel.getByText(text).first().getAttribute('title')) ?? '', meaning)
    }
    await panel.getByText('2 partitions').click()
    const rows = panel.getByRole('row')
    const cellsOf = async (name: string) =>
      (await rows.filter({ hasText: name }).getByRole('cell').allInnerTexts()).map((text) => text.trim())
    assert.match(await rows.nth(1).innerText(), /Partition 0/)
    assert.deepEqual((await cellsOf('Partition 0')).slice(0, 4), ['4', '0', '1', '2'])
    assert.deepEqual((await cellsOf('Partition 1')).slice(0, 4), ['2', '1', '0', '1'])
    assert.match(await panel.getByRole('columnheader', { name: 'Holes' }).getAttribute('title').then(String), /Gaps/)
    await checkAccessibility()
    await page.setViewportSize({ width: 360, height: 800 })
    await panel.getByText('Partition 1').waitFor()
    // The chart follows the new width in a later frame; a page that stays too wide fails here.
    await page.waitForFunction('innerWidth === 360 && document.documentElement.scrollWidth === 360')
    await checkAccessibility()
  })
})
