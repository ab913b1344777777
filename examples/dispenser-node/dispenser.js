// A dispenser that holds people at the terms until they have accepted them.
const vestibule = require('@vestibule-dev/pluginsdk')

const settings = {}

function dispense(user, request) {
  if (user.columns.terms_accepted != null) return vestibule.done()
  if (request.form.accept === true) { // what the page has posted
    return vestibule.done().with(vestibule.setUser('terms_accepted', new Date().toISOString()))
  }
  return vestibule.redirect(settings.page).hold()
}

module.exports = { dispense, settings }

if (require.main === module) {
  vestibule.serve({
    name: 'terms',
    version: '1.0.0',
    dispense,
    config: { page: { type: 'string', default: '/terms/accept' } },
    configure: (config) => { Object.assign(settings, config) },
  })
}
