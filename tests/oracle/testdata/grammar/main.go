// Grammar says what Go makes of CEL expressions and of regular expressions.
//
// It reads JSON lines, {"cel": …} or {"pattern": …, "texts": […]}, and answers each with one of its own.
package main

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log"
	"math"
	"os"
	"regexp"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/ext"
	"github.com/google/cel-go/parser"
)

type question struct {
	CEL     *string
	Pattern string
	Texts   []string
}

type answer struct {
	Error   string `json:"error"`
	Tree    any    `json:"tree,omitempty"`
	Matches []bool `json:"matches,omitempty"`
}

func main() {
	// The libraries of k8s.io/apiserver/pkg/cel/environment that add syntax or macros.
	env, err := cel.NewEnv(cel.OptionalTypes(), ext.TwoVarComprehensions(), ext.Lists(ext.ListsVersion(3)))
	if err != nil {
		log.Fatal(err)
	}
	plain, err := parser.NewParser(parser.EnableOptionalSyntax(true), parser.EnableVariadicOperatorASTs(true))
	if err != nil {
		log.Fatal(err)
	}
	in, out := bufio.NewScanner(os.Stdin), json.NewEncoder(os.Stdout)
	in.Buffer(nil, 1<<24)
	for in.Scan() {
		var q question
		if err := json.Unmarshal(in.Bytes(), &q); err != nil {
			log.Fatal(err)
		}
		var a answer
		if q.CEL != nil {
			a = parse(env, plain, *q.CEL)
		} else {
			a = match(q.Pattern, q.Texts)
		}
		if err := out.Encode(a); err != nil {
			log.Fatal(err)
		}
	}
	if err := in.Err(); err != nil {
		log.Fatal(err)
	}
}

func match(pattern string, texts []string) answer {
	compiled, err := regexp.Compile(pattern)
	if err != nil {
		return answer{Error: err.Error()}
	}
	matches := []bool{}
	for _, text := range texts {
		matches = append(matches, compiled.MatchString(text))
	}
	return answer{Matches: matches}
}

// parse judges with macros expanded, and gives the tree without.
func parse(env *cel.Env, plain *parser.Parser, text string) answer {
	if _, issues := env.Parse(text); issues.Err() != nil {
		first, _, _ := strings.Cut(issues.Err().Error(), "\n")
		return answer{Error: first}
	}
	tree, errors := plain.Parse(common.NewTextSource(text))
	if len(errors.GetErrors()) > 0 {
		return answer{Error: errors.ToDisplayString()}
	}
	return answer{Tree: shape(tree.Expr())}
}

func shape(e ast.Expr) []any {
	switch e.Kind() {
	case ast.LiteralKind:
		return constant(e)
	case ast.IdentKind:
		return []any{"ident", e.AsIdent()}
	case ast.SelectKind:
		return []any{"select", shape(e.AsSelect().Operand()), e.AsSelect().FieldName()}
	case ast.CallKind:
		call := e.AsCall()
		out := []any{"call", call.FunctionName()}
		if call.IsMemberFunction() {
			out = append(out, shape(call.Target()))
		} else {
			out = append(out, nil)
		}
		for _, argument := range call.Args() {
			out = append(out, shape(argument))
		}
		return out
	case ast.ListKind:
		out := []any{"list"}
		for i, element := range e.AsList().Elements() {
			out = append(out, []any{shape(element), e.AsList().IsOptional(int32(i))})
		}
		return out
	case ast.MapKind:
		out := []any{"map"}
		for _, entry := range e.AsMap().Entries() {
			m := entry.AsMapEntry()
			out = append(out, []any{shape(m.Key()), shape(m.Value()), m.IsOptional()})
		}
		return out
	case ast.StructKind:
		out := []any{"message", e.AsStruct().TypeName()}
		for _, entry := range e.AsStruct().Fields() {
			f := entry.AsStructField()
			out = append(out, []any{f.Name(), shape(f.Value()), f.IsOptional()})
		}
		return out
	default:
		return []any{"unknown", fmt.Sprint(e.Kind())}
	}
}

// constant gives values as text, so that JSON changes none of them.
func constant(e ast.Expr) []any {
	switch v := e.AsLiteral().(type) {
	case types.Double:
		return []any{"double", fmt.Sprintf("%016x", math.Float64bits(float64(v)))}
	case types.String:
		return []any{"string", string(v)}
	case types.Bytes:
		return []any{"bytes", hex.EncodeToString(v)}
	case types.Null:
		return []any{"null", ""}
	default:
		return []any{e.AsLiteral().Type().TypeName(), fmt.Sprint(v.Value())}
	}
}
