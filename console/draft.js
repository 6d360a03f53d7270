/**
 * The document in the editor: its text, what it was read as, and what the page says about it. The user's text stays
 * until it is stored or given up.
 *
 * What is open is `{ id, etag, name, saved }`: `id` and `etag` are undefined for what is not stored, and `saved` is the
 * text that can be left without asking.
 */
import { TEMPLATE, textOf } from './document-text.js'
import { byId, element, moment } from './elements.js'
import { createFindings } from './findings.js'
import { createNotice } from './notice.js'
import { createTextArea } from './text-area.js'

export function createDraft() {
  let open
  const isDirty = () => open !== undefined && area.text !== open.saved
  const showDirty = () => {
    byId('dirty').hidden = !isDirty()
    byId('remove').hidden = open?.id === undefined
    document.title = `${isDirty() ? '• ' : ''}${open?.name ?? 'Endpoint'} – Crosswalk`
  }
  const area = createTextArea(() => {
    showDirty()
    findings.edited()
  })
  const findings = createFindings(area)
  const notice = createNotice()

  const show = (next, stamp) => {
    open = next
    byId('draft').hidden = false
    byId('editor-title').textContent = next.name
    byId('stamp').replaceChildren(...stamp)
    notice.hide()
    findings.show([])
    showDirty()
  }
  return {
    area,
    findings,
    notice,
    isDirty,
    get open() {
      return open
    },
    /** Changes what is known of the open document, but not its text. */
    update: (change) => {
      open = { ...open, ...change }
      showDirty()
    },
    close: () => {
      open = undefined
      byId('draft').hidden = true
      byId('editor-title').textContent = 'Endpoint'
      byId('stamp').replaceChildren()
    },
    showNew: () => {
      area.set(TEMPLATE)
      show({ name: 'New endpoint', saved: TEMPLATE }, ['Not stored yet: change this example and save it.'])
    },
    /** `sent` is the text that was just stored: what was typed since then stays. */
    showStored: ({ body, etag }, sent) => {
      const { _id: id, name, createdAt, updatedAt } = body
      const saved = textOf(body)
      if (sent === undefined) area.set(saved)
      else if (sent === area.text) area.reset(saved)
      const dates = [' · created ', moment(createdAt), ' · updated ', moment(updatedAt)]
      show({ id, etag, name, saved }, ['ID ', element('code', {}, id), ...dates])
    },
    /** Shows the result of a user action. @param {'plain' | 'good' | 'bad'} tone */
    say: (text, tone = 'plain') => {
      byId('result').textContent = text
      byId('result').dataset.tone = tone
    },
  }
}
