import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scrub } from '../../src/messages/mask.ts'

const cases = [
  {
    text: 'The lookup "a" answered with status 404: John\nDoe',
    scrubbed: 'The lookup "a" answered with status 404: ***',
  },
  { text: 'The lookup "a" answered with status 404', scrubbed: 'The lookup "a" answered with status 404' },
  {
    text: 'The lookup "a" answered with status 302. More came: than are followed. It said: John',
    scrubbed: 'The lookup "a" answered with status 302. More came: than are followed. It said: ***',
  },
  {
    text: 'The lookup "a" answered with status 503. It was not tried again: too many.',
    scrubbed: 'The lookup "a" answered with status 503. It was not tried again: too many.',
  },
]
for (const { text, scrubbed } of cases) {
  test(`what another system said is taken out of ${JSON.stringify(text)}`, () => {
    assert.equal(scrub(text, new Set()), scrubbed)
  })
}
