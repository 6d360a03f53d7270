/** Messages that were made to do harm in the page that shows them. */
import { describe, test } from 'node:test'
import { NO_BROWSER } from '../browser.ts'
import { openConsole } from '../console-page.ts'
import { send } from '../failed-messages.ts'

describe('/messages, of hostile senders', { skip: NO_BROWSER }, () => {
  test('shows hostile names, bodies, headers, keys and failures as the text that they are', async (test) => {
    const { service, page, open } = await openConsole(test)
    const hostile = [
      '<img src=x onerror=alert(1)>',
      '</script><script>alert(2)</script>',
      'javascript:alert(3)',
      '{{constructor.constructor("alert(4)")()}}',
      '__proto__',
      '\u202egnp.exe',
    ]
    for (const [index, text] of hostile.entries()) {
      await service.register({
        name: `${index} ${text.replace('\u202e', '')}`,
        endpoint: { pattern: `/hostile/${index}` },
        messageKeys: { text: 'requestBody.text' },
        inputValidation: { required: ['missing'], properties: { text: { const: text } } },
      })
      const id = await send(service, `/hostile/${index}?${encodeURIComponent(text)}=${encodeURIComponent(text)}`, {
        text,
      })
      await open(`messages/${id}?body=incoming`)
      const shown = text.replace('\u202e', 'U+202E')
      await page
        .getByLabel('Incoming body')
        .getByText(`"text": "${shown.replaceAll('"', '\\"')}"`)
        .waitFor()
      await page.getByRole('link', { name: `text:${shown}` }).waitFor()
      await page.getByRole('link', { name: `${index} ${text.replace('\u202e', '')}` }).waitFor()
    }
    await open('messages')
    await page.getByText('6 in all').waitFor()
  })
})
