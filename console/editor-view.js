/** The editor of one document: opens it, and joins the page's buttons and keys to what they do. */
import { createDraft } from './draft.js'
import { byId } from './elements.js'
import { createSaving } from './saving.js'

export function createEditorView({ api, moveTo, goToList }) {
  const draft = createDraft()
  const { save, remove } = createSaving({ draft, api, moveTo, goToList })
  let opening

  byId('save').addEventListener('click', save)
  byId('remove').addEventListener('click', remove)
  document.addEventListener('keydown', (event) => {
    const isSave = (event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === 's'
    if (!isSave || byId('editor').hidden) return
    // The browser's own Save would store the page.
    event.preventDefault()
    if (!event.repeat && !byId('ask').open) save()
  })

  return {
    isDirty: draft.isDirty,
    /** Opens a stored document, or a new one where there is no id. */
    open: async (id) => {
      const mine = {}
      opening = mine
      draft.close()
      draft.say('')
      byId('editor-error').hidden = true
      if (id === undefined) return draft.showNew()
      const answer = await api.read(id)
      // The user may have opened something else before this was read.
      if (opening !== mine) return
      if (answer.error === undefined) return draft.showStored(answer)
      byId('editor-error').hidden = false
      byId('editor-error').textContent = answer.error
    },
    close: () => {
      opening = undefined
      draft.close()
    },
  }
}
