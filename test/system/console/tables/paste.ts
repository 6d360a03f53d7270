/** Pasting as people do. */
import type { Page } from 'playwright-core'

/** Puts a text on the clipboard and pastes it where the focus is. */
export async function paste(page: Page, text: string): Promise<void> {
  await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`)
  await page.keyboard.press('Control+v')
}
