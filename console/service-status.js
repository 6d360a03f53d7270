/** Readiness and uptime in the page's head, kept current while the page is looked at. */
import { byId } from './elements.js'

const EVERY_MS = 10_000

export function watchService(api) {
  let timer
  const look = async () => {
    clearTimeout(timer)
    if (document.hidden) return
    const [health, uptime] = await Promise.all([api.health(), api.uptime()])
    show(health, uptime)
    clearTimeout(timer)
    timer = setTimeout(look, EVERY_MS)
  }
  document.addEventListener('visibilitychange', look)
  look()
}

function show(health, uptime) {
  const { state, text } = readiness(health)
  byId('service').dataset.state = state
  // Written only when it changes, so that a screen reader does not repeat it.
  if (byId('readiness').textContent !== text) byId('readiness').textContent = text
  byId('uptime').textContent = uptime.error === undefined ? `up ${duration(uptime.body.milliseconds)}` : ''
}

function readiness({ status, body }) {
  if (status === 200) return { state: 'ready', text: 'Ready' }
  if (status === 0) return { state: 'away', text: 'Does not answer' }
  if (body?.stopping) return { state: 'not-ready', text: 'Stopping' }
  return { state: 'not-ready', text: body?.store === 'unavailable' ? 'Not ready: store unavailable' : 'Not ready' }
}

/** The two largest units of a duration, as in `3 h 12 min`. */
export function duration(milliseconds) {
  const seconds = Math.floor(milliseconds / 1000)
  const units = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3_600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ]
  const largest = units.findIndex(([count]) => count > 0)
  if (largest === -1) return '0 s'
  const shown = units.slice(largest, largest + 2).filter(([count]) => count > 0)
  return shown.map(([count, unit]) => `${count} ${unit}`).join(' ')
}
