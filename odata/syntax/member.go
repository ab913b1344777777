package syntax

import (
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/syntax/internal/lex"
)

// memberPath consumes a path that starts with a name (ABNF firstMemberExpr): a
// member, a cast, a bound function, or a range variable in scope.
func (p *parser) memberPath(at int) Expr {
	path := p.newPath(at, "")
	to := p.ScanIdent(at)
	if c := p.PeekAt(to); c != '(' && c != '.' && p.inScope(p.Text[at:to]) {
		path.Root = p.Text[at:to]
		p.I = to
		return p.pathRest(path)
	}
	return p.pathSegments(path)
}

func (p *parser) newPath(at int, root string) *Path {
	p.Node(at)
	path := &Path{At: At(p.RawPos(at)), Root: root}
	path.Segments = path.one[:0]
	return path
}

func (p *parser) inScope(name string) bool {
	for _, v := range p.vars {
		if v == name {
			return true
		}
	}
	return false
}

// variable consumes a path from $it, $this or $root (ABNF inscopeVariableExpr,
// rootExpr). They are case-sensitive.
func (p *parser) variable() Expr {
	at := p.I
	to := p.ScanIdent(at + 1)
	root := p.Text[at:to]
	if root == "$these" {
		p.I = to
		return p.these(at)
	}
	if root != "$it" && root != "$this" && root != "$root" {
		panic(p.Malformed(at, "unknown variable %q; there are $it, $this, $these and $root", root))
	}
	path := p.newPath(at, root)
	p.I = to
	if root == "$root" && p.Peek() != '/' {
		panic(p.Malformed(p.I, "$root needs a path behind it"))
	}
	return p.pathRest(path)
}

// aliasPath consumes a path from a parameter alias, or one that starts with an
// annotation (ABNF parameterAlias, annotationExpr).
func (p *parser) aliasPath() Expr {
	at := p.I
	path := p.newPath(at, "")
	name, isAnnotation := p.Annotation()
	if isAnnotation {
		path.Segments = append(path.Segments, Segment{Pos: p.RawPos(at), Name: name})
	} else {
		path.Root = name
	}
	return p.pathRest(path)
}

// pathRest consumes "/" and segments, if there are any.
func (p *parser) pathRest(path *Path) Expr {
	if !p.Accept('/') {
		return path
	}
	return p.pathSegments(path)
}

// pathSegments consumes segments separated by "/".
func (p *parser) pathSegments(path *Path) Expr {
	for {
		first := path.Root == "" && len(path.Segments) == 0
		if len(path.Segments) > 0 {
			p.Node(p.I)
		}
		seg := p.pathSegment(first)
		path.Segments = append(path.Segments, seg)
		if p.Peek() != '/' {
			return path
		}
		last := seg.Name == segCount || seg.Lambda != nil && seg.Name != segFilter
		if last {
			panic(p.Malformed(p.I, "nothing can follow %s in a path", seg.Name))
		}
		p.I++
	}
}

func (p *parser) pathSegment(first bool) Segment {
	at := p.I
	seg := Segment{Pos: p.RawPos(at)}
	switch p.Peek() {
	case '$':
		return p.systemStep()
	case '@':
		seg.Name, _ = p.Annotation()
		return seg
	}
	var qualified bool
	if seg.Name, qualified = p.Name("a name"); p.Peek() != '(' {
		return seg
	}
	if !qualified && (p.WordIs(seg.Name, "any") || p.WordIs(seg.Name, "all")) {
		seg.Name = strings.ToLower(seg.Name)
		if first {
			panic(p.Malformed(p.I, "%s needs a collection before it, as in Items/%s(…)", seg.Name, seg.Name))
		}
		seg.Lambda = p.lambda(seg.Name)
		return seg
	}
	p.groups(&seg)
	return seg
}

// groups consumes the arguments behind a name, and a key behind these.
func (p *parser) groups(seg *Segment) {
	if seg.Args = p.arguments(seg.Name); p.Peek() == '(' {
		seg.Key = p.arguments("")
	}
}

// systemStep consumes $count or $filter(...) in a path. A key behind $filter(...) picks one of what it leaves (ABNF
// collectionNavigationExpr).
func (p *parser) systemStep() (seg Segment) {
	at := p.I
	p.I = p.ScanIdent(at + 1)
	seg = Segment{Pos: p.RawPos(at), Name: p.Text[at:p.I]}
	switch seg.Name {
	case segCount:
		if p.Peek() == '(' {
			seg.Options = p.nestedOptions(optFilter | optSearch)
		}
	case segFilter:
		seg.Lambda = p.filterSegment()
		if p.Peek() == '(' {
			seg.Key = p.arguments("")
		}
	default:
		panic(p.Malformed(at, "%s cannot be part of an expression", seg.Name))
	}
	return seg
}

// filterSegment consumes the parentheses of $filter(...) (ABNF filterExpr).
func (p *parser) filterSegment() *Lambda {
	p.Expect('(', "behind $filter")
	p.Space()
	pred := p.expr()
	p.Space()
	p.Expect(')', "to close $filter")
	return &Lambda{Pred: pred}
}

// lambda consumes the parentheses of any and all (ABNF anyExpr, allExpr).
func (p *parser) lambda(name string) *Lambda {
	p.I++
	p.Space()
	if name == "any" && p.Accept(')') {
		return &Lambda{}
	}
	v := p.Ident("a range variable as in " + name + "(x:x/Name eq 'a')")
	p.Space()
	p.Expect(':', "behind the range variable")
	p.Space()
	p.vars = append(p.vars, v)
	pred := p.expr()
	p.vars = p.vars[:len(p.vars)-1]
	p.Space()
	p.Expect(')', "to close "+name)
	return &Lambda{Var: v, Pred: pred}
}

// arguments consumes a key predicate or the arguments of a function (ABNF
// keyPredicate, functionParameters, functionExprParameters) behind the name of, or
// a key behind arguments when of is empty.
func (p *parser) arguments(of string) *ArgList {
	named := p.I - len(of)
	args := &ArgList{Pos: p.RawPos(p.I)}
	p.I++
	p.Space()
	if p.Accept(')') {
		return args
	}
	p.List(func() {
		arg := p.argument(named, of)
		for _, other := range args.Args {
			if arg.Name == "" || arg.Name == other.Name {
				panic(p.Fail(p.I, lex.CodeMalformed, "several arguments or key values need different names, as in (a=1,b=2)"))
			}
		}
		args.Args = append(args.Args, arg)
	})
	p.Space()
	p.Expect(')', "or \",\" behind the value")
	return args
}

// argument consumes [name "="] value. A value without a name is a key.
func (p *parser) argument(named int, of string) (arg Arg) {
	at := p.I
	arg.Pos = p.RawPos(at)
	if to := p.ScanIdent(at); to > at && p.PeekAt(to) == '=' {
		arg.Name = p.Ident("a name")
		p.I++
		p.Space()
		if !p.inPath {
			arg.Value = p.expr()
			return arg
		}
	}
	value := p.I
	if p.Peek() == '@' {
		name, isAnnotation := p.Annotation()
		if isAnnotation {
			panic(p.Malformed(value, "expected a parameter alias as in @p"))
		}
		arg.Value = p.newPath(value, name)
		return arg
	}
	l := p.tryLiteral()
	if l == nil {
		panic(p.notALiteral(named, of, arg.Name))
	}
	if arg.Name == "" && !isKeyKind(l.Kind) {
		panic(p.Malformed(value, "a key cannot be null or geographical"))
	}
	arg.Value = l
	return arg
}

// notALiteral explains why a key or an argument cannot stand here.
func (p *parser) notALiteral(named int, of, name string) error {
	switch {
	case name != "":
		return p.Malformed(p.I, "the value of %s must be a literal, with text in single quotes, or an alias as in @p", name)
	case p.inPath || of == "":
		return p.Malformed(p.I, "expected a key: a literal, with text in single quotes, or name=value pairs")
	}
	return p.Fail(named, lex.CodeUnknownFunction, "%s is no canonical function%s", of, p.functionHint(of))
}

func (p *parser) functionHint(name string) string {
	lower := strings.ToLower(name)
	if canonical, _, _ := p.function(lower); canonical != "" {
		return "; write " + canonical
	}
	if lower == "substringof" {
		return "; write contains(text,part)"
	}
	if near := p.nearest(name); near != "" {
		return "; did you mean " + near + "?"
	}
	return ", and others need names for their arguments"
}

// isKeyKind tells what a key can be (ABNF keyPropertyValue). The standard has no
// binary keys; tables do, and links are written with them.
func isKeyKind(k LiteralKind) bool {
	return k != Null && k != Geography && k != Geometry
}
