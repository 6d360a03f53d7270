/**
 * Saving and deleting. Every change of a stored document carries the ETag that it was read with, so that it never
 * overwrites a change that another user stored meanwhile; the user of the later change sees both versions and decides.
 */
import { ask, askToDiscard } from './ask.js'
import { moment } from './elements.js'
import { countFindings, findingsAt, findingsInText } from './findings.js'

/** `moveTo` sets the page's address without opening it; `goToList` opens the list with a sentence to say there. */
export function createSaving({ draft, api, moveTo, goToList }) {
  const call = createCall(draft)

  const save = async () => {
    if (draft.open === undefined || call.isRunning()) return
    const { id, etag } = draft.open
    if (id !== undefined && !draft.isDirty()) return draft.say('There is nothing to save: the text is as it is stored.')
    const { text } = draft.area
    if (showBroken(draft, text)) return
    draft.say('Saving…')
    const answer = await call.run(() => (id === undefined ? api.create(text) : api.replace(id, text, etag)))
    if (answer === undefined) return
    if (answer.error !== undefined) return refuse(answer, 'saved')
    if (id === undefined) moveTo(`#/endpoints/${answer.body._id}`)
    draft.showStored(answer, text)
    showSaved(draft, answer.warnings)
  }

  const remove = async () => {
    if (draft.open?.id === undefined || call.isRunning()) return
    const { id, etag, name } = draft.open
    const lost = draft.isDirty() ? ' Your unsaved changes go with it.' : ''
    const text = `It stops answering at once. Its versions are kept for a while, and can be restored.${lost}`
    if (!(await ask({ title: `Delete “${name}”?`, text, agree: 'Delete' }))) return
    draft.say('Deleting…')
    const answer = await call.run(() => api.remove(id, etag))
    if (answer === undefined) return
    if (answer.error !== undefined && answer.status !== 404) return refuse(answer, 'deleted')
    draft.close()
    goToList(`“${name}” was deleted.`)
  }

  const refuse = ({ status, error, details }, done) => {
    if (status === 412) return showConflict(done)
    if (status === 404) return showGone()
    draft.findings.show(findingsAt(details, 'fault'))
    const advice = status === 0 ? ' Your text is still here; try again when it is back.' : ''
    draft.say(`Not ${done}. ${error}${advice}`, 'bad')
  }

  /** Overwriting requires the version whose time is shown, so that a third change is not lost either. */
  const showConflict = async (done) => {
    const stored = await call.run(() => api.read(draft.open.id))
    if (stored?.status === 404) return showGone()
    if (stored === undefined) return
    draft.say(`Not ${done}. The endpoint has changed since you opened it. ${stored.error ?? ''}`, 'bad')
    if (stored.error !== undefined) return
    const overwrite = () => {
      draft.update({ etag: stored.etag, saved: undefined })
      draft.notice.hide()
      save()
    }
    const take = async () => {
      if (draft.isDirty() && !(await askToDiscard())) return
      draft.showStored(stored)
      draft.say('This is the stored version.')
    }
    const look = { label: 'Look at the stored version', href: `#/endpoints/${draft.open.id}` }
    const decide = [
      { label: 'Save my text over it', run: overwrite },
      { label: 'Take the stored version', run: take },
    ]
    const when = ['Somebody else changed this endpoint on ', moment(stored.body.updatedAt), ', after you opened it. ']
    const what = `Nothing was ${done}, and your text is still here. Look at the stored version in a second tab, then decide:`
    draft.notice.show([...when, what], [look, ...(done === 'saved' ? decide : decide.slice(1))])
  }

  const showGone = () => {
    draft.update({ id: undefined, etag: undefined, saved: undefined })
    moveTo('#/new')
    draft.say('Not saved. The endpoint has been deleted.', 'bad')
    const text = 'Somebody else deleted this endpoint after you opened it. Your text is still here.'
    draft.notice.show([text], [{ label: 'Store it anew', run: save }])
  }

  return { save, remove }
}

/** Runs one call at a time for the open document. */
function createCall(draft) {
  let runningFor
  return {
    isRunning: () => runningFor !== undefined && runningFor === draft.open,
    /** Gives undefined where the user has gone elsewhere before the answer came. */
    run: async (work) => {
      const open = draft.open
      runningFor = open
      const answer = await work()
      if (runningFor === open) runningFor = undefined
      return draft.open === open ? answer : undefined
    },
  }
}

/** Shows where a text is not JSON, and moves the cursor there. */
function showBroken(draft, text) {
  const [broken] = findingsInText(text)
  if (broken === undefined) return false
  draft.findings.show([broken])
  draft.findings.goToFirst()
  draft.say(`Not sent: the text is not JSON. ${broken.where}: ${broken.message}`, 'bad')
  return true
}

function showSaved(draft, warnings) {
  const findings = findingsAt(warnings, 'warning')
  draft.findings.show(findings)
  const noted = findings.length > 0 ? `, with ${countFindings(findings)}` : ''
  draft.say(`Saved at ${new Date().toLocaleTimeString()} and active${noted}.`, 'good')
}
