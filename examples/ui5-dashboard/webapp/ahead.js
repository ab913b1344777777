// The browser loads ahead what UI5 would ask for only one after the other. This stands
// in the bundle of the framework: all of it follows when the framework is there, and
// while it starts.
(() => {
	"use strict";

	const { theme, language } = globalThis["sap-ui-config"];
	const words = language.slice(0, 2).toLowerCase();

	function ahead(as, href) {
		const link = document.createElement("link");
		link.rel = "preload";
		link.as = as;
		link.href = href;
		if (as === "fetch" || as === "font") {
			link.crossOrigin = "anonymous"; // only then does it fit what is asked for later
		}
		document.head.append(link);
	}

	ahead("fetch", `/odata/$metadata?sap-language=${words.toUpperCase()}`);
	ahead("fetch", "resources/sap-ui-version.json");
	ahead("fetch", words === "de" ? "i18n/i18n_de.properties" : "i18n/i18n.properties");
	ahead("script", "Component-preload.js");
	for (const library of ["sap/ui/core", "sap/m", "sap/f", "sap/ui/layout"]) {
		ahead("fetch", `resources/${library}/messagebundle_${words}.properties`);
		ahead("style", `resources/${library}/themes/${theme}/library.css?sap-ui-dist-version=${version}`);
	}
	if (/^(?:de(?:-de)?|en(?:-us)?)$/i.test(language)) { // other regions have files of their own
		ahead("fetch", `resources/sap/ui/core/cldr/${words}.json`);
	}
	for (const font of ["72-Regular", "72-Bold", "72-SemiboldDuplex", "72-Black", "SAP-icons"]) {
		ahead("font", `resources/sap/ui/core/themes/${theme}/fonts/${font}.woff2`);
	}
})();
