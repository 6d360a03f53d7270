/** What tests of the editor do on its page: the text as it stands, edits of it, and moves by keys. */
import assert from 'node:assert/strict'
import type { Locator, Page } from 'playwright-core'

/** The text area of the document. */
export const documentEditor = (page: Page): Locator => page.getByRole('textbox', { name: 'Document', exact: true })

/** A stage in the list of the dry run. */
export const stageOf = (page: Page, name: string): Locator => page.locator(`[data-stage="${name}"]`)

/** Resolves when every stage of the newest run passed. */
export async function allPassed(page: Page): Promise<void> {
  await page.locator('.run-result[aria-busy="false"] .result-line', { hasText: 'done' }).waitFor()
  assert.equal(await page.locator('.stage.failed').count(), 0)
}

/** Puts `after` in place of `before` in the line of the document that has it; the caret must be in the editor. */
export async function replaceInLine(page: Page, before: string, after: string): Promise<void> {
  const line = documentEditor(page).locator('.cm-line', { hasText: before }).first()
  const text = (await line.textContent()) ?? ''
  await line.click()
  await page.keyboard.press('Home')
  await page.keyboard.press('Home')
  await page.keyboard.press('Shift+End')
  await page.keyboard.insertText(text.replace(before, after))
}

/** Whether an element, or one within it, has the focus. */
export const hasFocus = async (wanted: Locator): Promise<boolean> =>
  (await wanted.and(wanted.page().locator(':focus-within')).count()) > 0

/** Presses Tab until the element has the focus. */
export async function tabTo(page: Page, wanted: Locator, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
  for (let pressed = 0; pressed < 120; pressed += 1) {
    if (await hasFocus(wanted)) return
    await page.keyboard.press(key)
  }
  assert.fail('The element is not reached by Tab.')
}

/** Moves the caret by keys to the line that has a text, from wherever it is in the editor. */
export async function caretToLine(page: Page, text: string): Promise<void> {
  await page.keyboard.press('Control+Home')
  const lines = await documentEditor(page).locator('.cm-line').allTextContents()
  const at = lines.findIndex((line) => line.includes(text))
  assert.notEqual(at, -1, `No line of the document has ${text}.`)
  for (let line = 0; line < at; line += 1) await page.keyboard.press('ArrowDown')
}
