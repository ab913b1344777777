// The theme follows the system: light or dark, and more contrast where that is
// asked for. The texts are German or English. This runs before UI5 starts, so
// that no other theme is seen first.
(() => {
	"use strict";

	const dark = matchMedia("(prefers-color-scheme: dark)");
	const contrast = matchMedia("(prefers-contrast: more)");

	function theme() {
		if (contrast.matches) {
			return dark.matches ? "sap_horizon_hcb" : "sap_horizon_hcw";
		}
		return dark.matches ? "sap_horizon_dark" : "sap_horizon";
	}

	function follow() {
		sap.ui.require(["sap/ui/core/Theming"], (Theming) => Theming.setTheme(theme()));
	}

	// The region stays as it is: it decides how dates and numbers are written.
	function language() {
		const asked = new URLSearchParams(location.search).getAll("sap-language");
		return [...asked, ...navigator.languages].find((tag) => /^(?:de|en)(?:-|$)/i.test(tag)) ?? "en";
	}

	globalThis["sap-ui-config"] = { theme: theme(), language: language() };
	dark.addEventListener("change", follow);
	contrast.addEventListener("change", follow);
})();
