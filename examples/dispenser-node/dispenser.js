// A dispenser that sends those whose trial has ended to the page that says so.
const vestibule = require('@vestibule-dev/pluginsdk')

const settings = {}

function dispense(user, request) {
  const ends = user.columns.trial_ends_at // seconds since 1970
  if (ends != null && ends < Date.now() / 1000) {
    return vestibule.redirect(settings.page).with(vestibule.consumeIntended())
  }
  return vestibule.done()
}

module.exports = { dispense, settings }

if (require.main === module) {
  vestibule.serve({
    name: 'trial',
    version: '1.0.0',
    dispense,
    config: { page: { type: 'string', default: '/upgrade' } },
    configure: (config) => { Object.assign(settings, config) },
  })
}
