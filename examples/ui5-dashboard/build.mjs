// Builds the dashboard into dist: what the application needs of OpenUI5, and nothing else.
// It reads node_modules and webapp only, so it works without a network. ui5.yaml says what
// is in which bundle; how to add to them stands in README.md.
import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import * as fs from "node:fs";
import * as path from "node:path";
import { promisify } from "node:util";
import { minify } from "terser";
import less from "less-openui5";

const root = import.meta.dirname;
const dist = path.join(root, "dist");
const bundles = ["resources/sap-ui-custom.js", "Component-preload.js", "later.js",
	...["fl", "mdc", "table"].map((library) => `resources/sap/ui/${library}/library-preload.js`)];
const themes = ["sap_horizon", "sap_horizon_dark", "sap_horizon_hcb", "sap_horizon_hcw"];
const libraries = ["sap/ui/core", "sap/ui/fl", "sap/ui/layout", "sap/ui/mdc", "sap/ui/table", "sap/ui/unified", "sap/m", "sap/f"];
// Texts and formats of other languages are not shipped: webapp/start.js chooses among these.
const language = /(?:messagebundle|cldr\/(?:de|en))(?:_(?:de|en)(?:_[A-Za-z]+)*|_[A-Z]{2})?\.(?:properties|json)$/;
// sap.m asks for the list of what is in sap.ui.unified, of which nothing is used.
const known = `sap.ui.predefine("sap/ui/unified/library-preload-lazy", [], () => {});`;
const boot = /^sap\.ui\.require\(\["sap\/ui\/core\/Core"\].*$/m;

const built = fs.mkdtempSync(path.join(root, ".build-"));
try {
	await ui5();
	fs.rmSync(dist, { recursive: true, force: true });
	application();
	const shipped = await scripts();
	libraries.forEach(texts);
	await styles(shipped);
} finally {
	fs.rmSync(built, { recursive: true, force: true });
}

/**
 * Lets the UI5 command line resolve and write the bundles. Of its tasks those are left out
 * that do for all modules of the libraries what is done here for those of the bundles.
 */
async function ui5() {
	const cli = createRequire(import.meta.url).resolve("@ui5/cli/bin/ui5.cjs");
	await promisify(execFile)(process.execPath, [cli, "build", "--all", "--dest", built,
		"--exclude-task", "minify", "buildThemes", "generateLibraryPreload", "generateComponentPreload",
		"generateStandaloneAppBundle", "generateThemeDesignerResources",
		"--include-task", "transformBootstrapHtml", "generateVersionInfo"],
	{ cwd: root, maxBuffer: 1 << 26 });
}

/** Copies what the browser asks for by itself. */
function application() {
	const copied = ["index.html", "start.js", "css", "i18n", "manifest.json", "resources/sap-ui-version.json"];
	copied.forEach((name) => copy(name));
}

function copy(name, filter = () => true) {
	fs.cpSync(path.join(built, name), path.join(dist, name), { recursive: true, filter });
}

function write(name, text) {
	fs.mkdirSync(path.dirname(path.join(dist, name)), { recursive: true });
	fs.writeFileSync(path.join(dist, name), text);
}

/** Makes the bundles small, and returns the names of all modules in them. */
async function scripts() {
	const shipped = new Set();
	for (const name of bundles) {
		const source = fs.readFileSync(path.join(built, name), "utf8");
		for (const [, module] of source.matchAll(/^sap\.ui\.predefine\("([^"]+)"/gm)) {
			shipped.add(module);
		}
		const { code } = await minify(source.replace(boot, (line) => `${known}\n${line}`), {
			compress: { keep_fargs: true, keep_infinity: true },
			mangle: { reserved: ["jQuery", "jquery", "sap"] },
			format: { comments: false, preamble: "/* OpenUI5, (c) SAP SE, Apache License 2.0, and libraries of others: https://openui5.org */" }
		});
		write(name, code);
	}
	return shipped;
}

/** Copies texts, formats and licences of a library. */
function texts(library) {
	const folder = path.join("resources", library);
	copy(folder, (file) => fs.statSync(file).isDirectory()
		? !/\/(?:themes|thirdparty)$/.test(file)
		: language.test(file));
}

/**
 * Compiles the themes of what is in the bundles: a style sheet that belongs to a control
 * that is not shipped is empty.
 */
async function styles(shipped) {
	const builder = new less.Builder({ fs: sources(shipped) });
	for (const theme of themes) {
		for (const library of libraries) {
			const folder = path.posix.join("resources", library, "themes", theme);
			const result = await builder.build({
				lessInputPath: path.posix.join("/", folder, "library.source.less"),
				rtl: false,
				library: { name: library.replaceAll("/", ".") },
				compiler: { compress: true }
			});
			write(path.join(folder, "library.css"), result.css);
			write(path.join(folder, "library-parameters.json"), JSON.stringify(result.variables));
			assets(folder, result.css);
		}
		builder.clearCache();
	}
}

/** Copies the fonts and pictures that a style sheet names. */
function assets(folder, css) {
	for (const [, url] of css.matchAll(/url\(["']?([^"')?#]+)/g)) {
		if (!url.startsWith("data:") && fs.existsSync(path.join(built, folder, url))) {
			copy(path.join(folder, url));
		}
	}
}

/** The built files as a file system whose root is built. */
function sources(shipped) {
	const real = (name) => path.join(built, name);
	return {
		stat: (name, done) => fs.stat(real(name), done),
		readFile(name, options, done) {
			const [, library, control] = /^\/resources\/(.+)\/themes\/[^/]+\/([A-Z]\w*)\.less$/.exec(name) ?? [];
			const module = `${library}/${control}`;
			if (control && !shipped.has(module) && fs.existsSync(real(`/resources/${module}.js`))) {
				done(null, "");
				return;
			}
			fs.readFile(real(name), options, done);
		}
	};
}
