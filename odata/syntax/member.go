package syntax

import "strings"

// memberPath consumes a path that starts with a name (ABNF firstMemberExpr): a
// member, a cast, a bound function, or a range variable in scope.
func (p *parser) memberPath(at int) (Expr, error) {
	path, err := p.newPath(at, "")
	if err != nil {
		return nil, err
	}
	to := p.scanIdent(at)
	if c := p.peekAt(to); c != '(' && c != '.' && p.inScope(p.text[at:to]) {
		path.Root = p.text[at:to]
		p.i = to
		return p.pathRest(path)
	}
	return p.pathSegments(path)
}

func (p *parser) newPath(at int, root string) (*Path, error) {
	if err := p.node(at); err != nil {
		return nil, err
	}
	path := &Path{At: p.rawPos(at), Root: root}
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
	at := p.i
	to := p.scanIdent(at + 1)
	root := p.text[at:to]
	if root != "$it" && root != "$this" && root != "$root" {
		return nil, p.malformed(at, "unknown variable %q; there are $it, $this and $root", root)
	}
	path, err := p.newPath(at, root)
	if err != nil {
		return nil, err
	}
	p.i = to
	if root == "$root" && p.peek() != '/' {
		return nil, p.malformed(p.i, "$root needs a path behind it")
	}
	return p.pathRest(path)
}

// aliasPath consumes a path from a parameter alias, or one that starts with an
// annotation (ABNF parameterAlias, annotationExpr).
func (p *parser) aliasPath() (Expr, error) {
	at := p.i
	path, err := p.newPath(at, "")
	if err != nil {
		return nil, err
	}
	name, isAnnotation, err := p.annotation()
	if err != nil {
		return nil, err
	}
	if isAnnotation {
		path.Segments = append(path.Segments, Segment{Pos: p.rawPos(at), Name: name})
	} else {
		path.Root = name
	}
	return p.pathRest(path)
}

// pathRest consumes "/" and segments, if there are any.
func (p *parser) pathRest(path *Path) (Expr, error) {
	if !p.accept('/') {
		return path, nil
	}
	return p.pathSegments(path)
}

// pathSegments consumes segments separated by "/".
func (p *parser) pathSegments(path *Path) (Expr, error) {
	for {
		first := path.Root == "" && len(path.Segments) == 0
		seg, err := p.pathSegment(first)
		if err != nil {
			return nil, err
		}
		path.Segments = append(path.Segments, seg)
		if p.peek() != '/' {
			return path, nil
		}
		last := seg.Name == segCount || seg.Lambda != nil && seg.Name != segFilter
		if last {
			return nil, p.malformed(p.i, "nothing can follow %s in a path", seg.Name)
		}
		p.i++
	}
}

func (p *parser) pathSegment(first bool) (Segment, error) {
	at := p.i
	seg := Segment{Pos: p.rawPos(at)}
	var err error
	switch p.peek() {
	case '$':
		return p.systemStep()
	case '@':
		seg.Name, _, err = p.annotation()
		return seg, err
	}
	var qualified bool
	if seg.Name, qualified, err = p.name("a name"); err != nil || p.peek() != '(' {
		return seg, err
	}
	if !qualified && (p.wordIs(seg.Name, "any") || p.wordIs(seg.Name, "all")) {
		seg.Name = strings.ToLower(seg.Name)
		if first {
			return seg, p.malformed(p.i, "%s needs a collection before it, as in Items/%s(…)", seg.Name, seg.Name)
		}
		seg.Lambda, err = p.lambda(seg.Name)
		return seg, err
	}
	err = p.groups(&seg)
	return seg, err
}

// groups consumes the arguments behind a name, and a key behind these.
func (p *parser) groups(seg *Segment) (err error) {
	if seg.Args, err = p.arguments(seg.Name); err == nil && p.peek() == '(' {
		seg.Key, err = p.arguments(seg.Name)
	}
	return err
}

// systemStep consumes $count or $filter(...) in a path.
func (p *parser) systemStep() (seg Segment, err error) {
	at := p.i
	p.i = p.scanIdent(at + 1)
	seg = Segment{Pos: p.rawPos(at), Name: p.text[at:p.i]}
	switch seg.Name {
	case segCount:
		if p.peek() == '(' {
			seg.Options, err = p.nestedOptions(optFilter | optSearch)
		}
	case segFilter:
		seg.Lambda, err = p.filterSegment()
	default:
		err = p.malformed(at, "%s cannot be part of an expression", seg.Name)
	}
	return seg, err
}

// filterSegment consumes the parentheses of $filter(...) (ABNF filterExpr).
func (p *parser) filterSegment() (*Lambda, error) {
	if err := p.expect('(', "behind $filter"); err != nil {
		return nil, err
	}
	p.ws()
	pred, err := p.expr()
	if err != nil {
		return nil, err
	}
	p.ws()
	return &Lambda{Pred: pred}, p.expect(')', "to close $filter")
}

// lambda consumes the parentheses of any and all (ABNF anyExpr, allExpr).
func (p *parser) lambda(name string) (*Lambda, error) {
	p.i++
	p.ws()
	if name == "any" && p.accept(')') {
		return &Lambda{}, nil
	}
	v, err := p.ident("a range variable as in " + name + "(x:x/Name eq 'a')")
	if err != nil {
		return nil, err
	}
	p.ws()
	if err := p.expect(':', "behind the range variable"); err != nil {
		return nil, err
	}
	p.ws()
	p.vars = append(p.vars, v)
	pred, err := p.expr()
	p.vars = p.vars[:len(p.vars)-1]
	if err != nil {
		return nil, err
	}
	p.ws()
	return &Lambda{Var: v, Pred: pred}, p.expect(')', "to close "+name)
}

// arguments consumes a key predicate or the arguments of a function (ABNF
// keyPredicate, functionParameters, functionExprParameters).
func (p *parser) arguments(of string) (*ArgList, error) {
	args := &ArgList{Pos: p.rawPos(p.i)}
	p.i++
	p.ws()
	if p.accept(')') {
		return args, nil
	}
	err := p.list(func() error {
		arg, err := p.argument(of)
		for _, other := range args.Args {
			if err == nil && (arg.Name == "" || arg.Name == other.Name) {
				return p.fail(p.i, codeMalformed, "several arguments or key values need different names, as in (a=1,b=2)")
			}
		}
		args.Args = append(args.Args, arg)
		return err
	})
	if err != nil {
		return nil, err
	}
	p.ws()
	return args, p.expect(')', "or \",\" behind the value")
}

// argument consumes [name "="] value. A value without a name is a key.
func (p *parser) argument(of string) (arg Arg, err error) {
	at := p.i
	arg.Pos = p.rawPos(at)
	if to := p.scanIdent(at); to > at && p.peekAt(to) == '=' {
		if arg.Name, err = p.ident("a name"); err != nil {
			return arg, err
		}
		p.i++
		p.ws()
		if !p.inPath {
			arg.Value, err = p.expr()
			return arg, err
		}
	}
	if p.peek() == '@' {
		return p.aliasArgument(arg)
	}
	value := p.i
	l, err := p.tryLiteral()
	if err == nil && l == nil {
		err = p.notALiteral(of, arg.Name)
	}
	if err == nil && arg.Name == "" && !isKeyKind(l.Kind) {
		err = p.malformed(value, "a key cannot be null, binary or geographical")
	}
	arg.Value = l
	return arg, err
}

func (p *parser) aliasArgument(arg Arg) (Arg, error) {
	at := p.i
	name, isAnnotation, err := p.annotation()
	if err == nil && isAnnotation {
		err = p.malformed(at, "expected a parameter alias as in @p")
	}
	if err != nil {
		return arg, err
	}
	alias, err := p.newPath(at, name)
	arg.Value = alias
	return arg, err
}

// notALiteral explains why a key or an argument cannot stand here.
func (p *parser) notALiteral(of, name string) error {
	switch {
	case name != "":
		return p.malformed(p.i, "the value of %s must be a literal, with text in single quotes, or an alias as in @p", name)
	case p.inPath:
		return p.malformed(p.i, "expected a key: a literal, with text in single quotes, or name=value pairs")
	}
	return p.fail(p.i, codeUnknownFunction, "%s is no canonical function%s", of, functionHint(of))
}

func functionHint(name string) string {
	lower := strings.ToLower(name)
	if canonical, _, _ := method(lower); canonical != "" {
		return "; write " + canonical
	}
	if lower == "substringof" {
		return "; write contains(text,part)"
	}
	return ", and others need names for their arguments"
}

// isKeyKind tells what a key can be (ABNF keyPropertyValue).
func isKeyKind(k LiteralKind) bool {
	return k != Null && k != Bytes && k != Geography && k != Geometry
}
