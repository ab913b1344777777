package syntax

import (
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/syntax/internal/lex"
)

// memberPath consumes a path that starts with a name (ABNF firstMemberExpr): a
// member, a cast, a bound function, or a range variable in scope.
func (p *parser) memberPath(at int) (Expr, error) {
	path, err := p.newPath(at, "")
	if err != nil {
		return nil, err
	}
	to := p.ScanIdent(at)
	if c := p.PeekAt(to); c != '(' && c != '.' && p.inScope(p.Text[at:to]) {
		path.Root = p.Text[at:to]
		p.I = to
		return p.pathRest(path)
	}
	return p.pathSegments(path)
}

func (p *parser) newPath(at int, root string) (*Path, error) {
	if err := p.Node(at); err != nil {
		return nil, err
	}
	path := &Path{At: p.RawPos(at), Root: root}
	path.Segments = path.one[:0]
	return path, nil
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
func (p *parser) variable() (Expr, error) {
	at := p.I
	to := p.ScanIdent(at + 1)
	root := p.Text[at:to]
	if root == "$these" {
		p.I = to
		return p.these(at)
	}
	if root != "$it" && root != "$this" && root != "$root" {
		return nil, p.Malformed(at, "unknown variable %q; there are $it, $this, $these and $root", root)
	}
	path, err := p.newPath(at, root)
	if err != nil {
		return nil, err
	}
	p.I = to
	if root == "$root" && p.Peek() != '/' {
		return nil, p.Malformed(p.I, "$root needs a path behind it")
	}
	return p.pathRest(path)
}

// aliasPath consumes a path from a parameter alias, or one that starts with an
// annotation (ABNF parameterAlias, annotationExpr).
func (p *parser) aliasPath() (Expr, error) {
	at := p.I
	path, err := p.newPath(at, "")
	if err != nil {
		return nil, err
	}
	name, isAnnotation, err := p.Annotation()
	if err != nil {
		return nil, err
	}
	if isAnnotation {
		path.Segments = append(path.Segments, Segment{Pos: p.RawPos(at), Name: name})
	} else {
		path.Root = name
	}
	return p.pathRest(path)
}

// pathRest consumes "/" and segments, if there are any.
func (p *parser) pathRest(path *Path) (Expr, error) {
	if !p.Accept('/') {
		return path, nil
	}
	return p.pathSegments(path)
}

// pathSegments consumes segments separated by "/".
func (p *parser) pathSegments(path *Path) (Expr, error) {
	for {
		first := path.Root == "" && len(path.Segments) == 0
		if len(path.Segments) > 0 {
			if err := p.Node(p.I); err != nil {
				return nil, err
			}
		}
		seg, err := p.pathSegment(first)
		if err != nil {
			return nil, err
		}
		path.Segments = append(path.Segments, seg)
		if p.Peek() != '/' {
			return path, nil
		}
		last := seg.Name == segCount || seg.Lambda != nil && seg.Name != segFilter
		if last {
			return nil, p.Malformed(p.I, "nothing can follow %s in a path", seg.Name)
		}
		p.I++
	}
}

func (p *parser) pathSegment(first bool) (Segment, error) {
	at := p.I
	seg := Segment{Pos: p.RawPos(at)}
	var err error
	switch p.Peek() {
	case '$':
		return p.systemStep()
	case '@':
		seg.Name, _, err = p.Annotation()
		return seg, err
	}
	var qualified bool
	if seg.Name, qualified, err = p.Name("a name"); err != nil || p.Peek() != '(' {
		return seg, err
	}
	if !qualified && (p.WordIs(seg.Name, "any") || p.WordIs(seg.Name, "all")) {
		seg.Name = strings.ToLower(seg.Name)
		if first {
			return seg, p.Malformed(p.I, "%s needs a collection before it, as in Items/%s(…)", seg.Name, seg.Name)
		}
		seg.Lambda, err = p.lambda(seg.Name)
		return seg, err
	}
	err = p.groups(&seg)
	return seg, err
}

// groups consumes the arguments behind a name, and a key behind these.
func (p *parser) groups(seg *Segment) (err error) {
	if seg.Args, err = p.arguments(seg.Name); err == nil && p.Peek() == '(' {
		seg.Key, err = p.arguments("")
	}
	return err
}

// systemStep consumes $count or $filter(...) in a path.
func (p *parser) systemStep() (seg Segment, err error) {
	at := p.I
	p.I = p.ScanIdent(at + 1)
	seg = Segment{Pos: p.RawPos(at), Name: p.Text[at:p.I]}
	switch seg.Name {
	case segCount:
		if p.Peek() == '(' {
			seg.Options, err = p.nestedOptions(optFilter | optSearch)
		}
	case segFilter:
		seg.Lambda, err = p.filterSegment()
	default:
		err = p.Malformed(at, "%s cannot be part of an expression", seg.Name)
	}
	return seg, err
}

// filterSegment consumes the parentheses of $filter(...) (ABNF filterExpr).
func (p *parser) filterSegment() (*Lambda, error) {
	if err := p.Expect('(', "behind $filter"); err != nil {
		return nil, err
	}
	p.Space()
	pred, err := p.expr()
	if err != nil {
		return nil, err
	}
	p.Space()
	return &Lambda{Pred: pred}, p.Expect(')', "to close $filter")
}

// lambda consumes the parentheses of any and all (ABNF anyExpr, allExpr).
func (p *parser) lambda(name string) (*Lambda, error) {
	p.I++
	p.Space()
	if name == "any" && p.Accept(')') {
		return &Lambda{}, nil
	}
	v, err := p.Ident("a range variable as in " + name + "(x:x/Name eq 'a')")
	if err != nil {
		return nil, err
	}
	p.Space()
	if err := p.Expect(':', "behind the range variable"); err != nil {
		return nil, err
	}
	p.Space()
	p.vars = append(p.vars, v)
	pred, err := p.expr()
	p.vars = p.vars[:len(p.vars)-1]
	if err != nil {
		return nil, err
	}
	p.Space()
	return &Lambda{Var: v, Pred: pred}, p.Expect(')', "to close "+name)
}

// arguments consumes a key predicate or the arguments of a function (ABNF
// keyPredicate, functionParameters, functionExprParameters) behind the name of, or
// a key behind arguments when of is empty.
func (p *parser) arguments(of string) (*ArgList, error) {
	named := p.I - len(of)
	args := &ArgList{Pos: p.RawPos(p.I)}
	p.I++
	p.Space()
	if p.Accept(')') {
		return args, nil
	}
	err := p.List(func() error {
		arg, err := p.argument(named, of)
		for _, other := range args.Args {
			if err == nil && (arg.Name == "" || arg.Name == other.Name) {
				return p.Fail(p.I, lex.CodeMalformed, "several arguments or key values need different names, as in (a=1,b=2)")
			}
		}
		args.Args = append(args.Args, arg)
		return err
	})
	if err != nil {
		return nil, err
	}
	p.Space()
	return args, p.Expect(')', "or \",\" behind the value")
}

// argument consumes [name "="] value. A value without a name is a key.
func (p *parser) argument(named int, of string) (arg Arg, err error) {
	at := p.I
	arg.Pos = p.RawPos(at)
	if to := p.ScanIdent(at); to > at && p.PeekAt(to) == '=' {
		if arg.Name, err = p.Ident("a name"); err != nil {
			return arg, err
		}
		p.I++
		p.Space()
		if !p.inPath {
			arg.Value, err = p.expr()
			return arg, err
		}
	}
	if p.Peek() == '@' {
		return p.aliasArgument(arg)
	}
	value := p.I
	l, err := p.tryLiteral()
	if err == nil && l == nil {
		err = p.notALiteral(named, of, arg.Name)
	}
	if err == nil && arg.Name == "" && !isKeyKind(l.Kind) {
		err = p.Malformed(value, "a key cannot be null or geographical")
	}
	arg.Value = l
	return arg, err
}

func (p *parser) aliasArgument(arg Arg) (Arg, error) {
	at := p.I
	name, isAnnotation, err := p.Annotation()
	if err == nil && isAnnotation {
		err = p.Malformed(at, "expected a parameter alias as in @p")
	}
	if err != nil {
		return arg, err
	}
	alias, err := p.newPath(at, name)
	arg.Value = alias
	return arg, err
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
	return ", and others need names for their arguments"
}

// isKeyKind tells what a key can be (ABNF keyPropertyValue). The standard has no
// binary keys; tables do, and links are written with them.
func isKeyKind(k LiteralKind) bool {
	return k != Null && k != Geography && k != Geometry
}
