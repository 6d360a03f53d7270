/** The page: opens the view that the address asks for, and never leaves changed text without asking. */
import { createApi } from './api.js'
import { askToDiscard, connectAsk } from './ask.js'
import { createEditorView } from './editor-view.js'
import { byId } from './elements.js'
import { connectKey, createKeyring } from './key.js'
import { createListView } from './list-view.js'
import { watchService } from './service-status.js'

const api = createApi(document.baseURI, createKeyring())
let shown = location.hash
let asking = false
let sayInList = ''

const list = createListView(api)
const editor = createEditorView({
  api,
  moveTo: (address) => {
    history.replaceState(null, '', address)
    shown = address
  },
  goToList: (said) => {
    sayInList = said
    location.hash = '#/'
  },
})

/** `#/new`, `#/endpoints/<id>`; every other address is the list. */
function show(address) {
  const id = /^#\/endpoints\/([^/]+)$/.exec(address)?.[1]
  const isEditor = id !== undefined || address === '#/new'
  byId('overview').hidden = isEditor
  byId('editor').hidden = !isEditor
  if (isEditor) return editor.open(id)
  editor.close()
  document.title = 'Endpoints – Crosswalk'
  const said = sayInList
  sayInList = ''
  return list.open(said)
}

async function move() {
  if (asking || location.hash === shown) return
  if (editor.isDirty()) {
    asking = true
    const leave = await askToDiscard()
    asking = false
    if (!leave) return history.replaceState(null, '', shown || '#/')
  }
  shown = location.hash
  await show(shown)
  byId(byId('editor').hidden ? 'overview-title' : 'editor-title').focus()
}

connectAsk()
connectKey()
addEventListener('hashchange', move)
addEventListener('beforeunload', (event) => {
  if (editor.isDirty()) event.preventDefault()
})
document.addEventListener('visibilitychange', () => {
  if (!document.hidden && byId('editor').hidden) list.open()
})
watchService(api)
show(shown)
