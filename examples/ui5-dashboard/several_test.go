package dashboard_test

import "github.com/vestibule-dev/vestibule/v2/ui/browsertest"

// broken makes a second component, which speaks of no status itself, with a model that works and one
// without a service, and a way to ask each for what is not there.
const broken = `new Promise((resolve) => sap.ui.require(['sap/ui/model/odata/v4/ODataModel', 'vestibule/Session'], (ODataModel, Session) => {
	const component = { getManifestEntry: () => null };
	window.ask = (model) => model.bindList('/Nothing').requestContexts().then(() => false, () => true);
	window.works = new ODataModel({ serviceUrl: '/odata/' });
	window.nowhere = new ODataModel({ serviceUrl: '/odata/nowhere/' });
	Session.watch({ ...component }, { models: [window.works, window.nowhere], own: [503] });
	Session.watch({ ...component }, { messages: false, own: [502] });
	window.dashboard = sap.ui.require('sap/ui/core/Component').getComponentById('fernweh-dashboard').getModel();
	resolve(null);
}))`

// another is a second component: its options hold for its models, and to try again there does not lose what is unsaved here.
func (b *tab) another() {
	b.T.Helper()
	if !browsertest.Eval[bool](b.Tab, pending) {
		b.T.Fatal("nothing is pending")
	}
	browsertest.Eval[any](b.Tab, broken)
	browsertest.Eval[any](b.Tab, `window.ask(window.works)`)
	b.box("That did not work") // the dashboard speaks of a 404 itself, but not this component
	b.Wait(`seen(document.querySelector('.sapMDialog')).includes('What this page shows is not there')`)
	b.answer("Close")
	browsertest.Eval[any](b.Tab, `window.ask(window.nowhere)`)
	b.box("That did not work")
	b.press("Try again")
	b.box("Load the page again")
	b.Picture("fault.reload")
	b.answer("Stay here")
	if !browsertest.Eval[bool](b.Tab, `window.dashboard.hasPendingChanges()`) {
		b.T.Error("what was not saved is lost")
	}
	browsertest.Eval[any](b.Tab, `window.ask(window.nowhere)`)
	b.box("That did not work")
	b.press("Try again")
	b.box("Load the page again")
	b.press("Load the page again")
	b.Wait(`!window.nowhere && window.rows`)
}
