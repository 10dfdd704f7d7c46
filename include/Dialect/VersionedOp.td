//===- VersionedOp.td - interfaces and base class of versioned operators ---===//
//
// Shared by all operator sets (onnx, tf, ov). An op is one (operator,
// since-version) of a specification; what it does at that version lives in the
// slice of its operator (include/Dialect/OpBehavior.h).
//
//===----------------------------------------------------------------------===//

#ifndef STRATA_DIALECT_VERSIONEDOP_TD
#define STRATA_DIALECT_VERSIONEDOP_TD

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def VersionedOpInterface : OpInterface<"VersionedOpInterface"> {
  let cppNamespace = "::strata";
  let description = [{
    What identifies an operator of a versioned operator set, and its formal
    parameters as the specification names them.
  }];
  let methods = [
    StaticInterfaceMethod<"Domain of the operator set; `ai.onnx` for the default one.",
                          "::llvm::StringRef", "getDomain">,
    StaticInterfaceMethod<"Operator name without version.", "::llvm::StringRef", "getOperatorName">,
    StaticInterfaceMethod<"First opset version with this meaning.", "int64_t", "getSinceVersion">,
    StaticInterfaceMethod<"Since-version of the operator's newest schema.", "int64_t", "getNewestVersion">,
    StaticInterfaceMethod<"Since-version of the next schema; 0 for the newest.", "int64_t", "getNextVersion">,
    StaticInterfaceMethod<[{True if every use of this version is a use of the next one with the same operands
                            and attributes, and with the same meaning.}],
                          "bool", "stepKeepsSignature">,
    StaticInterfaceMethod<"True if the specification says that the operator must no longer be used.",
                          "bool", "isDeprecated">,
    StaticInterfaceMethod<"True if the specification defines the operator by a function body.",
                          "bool", "hasFunctionBody">,
    StaticInterfaceMethod<[{
        Formal parameters: `(X:T, bias?:T, rest*:V) -> (Y:T)`. After the name: `?` optional, `*` variadic, `+` variadic
        with at least one, `~` variadic of different types. After the colon: a type variable, or the only allowed type.}],
                          "const ::strata::Signature &", "getSignature">,
    InterfaceMethod<"Actual operands of formal input `index` (none, one or, if variadic, any number).",
                    "::mlir::OperandRange", "getInputGroup", (ins "unsigned":$index), [{
                      return $_op.getODSOperands(index);
                    }]>,
    InterfaceMethod<"Actual results of formal output `index`.",
                    "::mlir::ResultRange", "getOutputGroup", (ins "unsigned":$index), [{
                      return $_op.getODSResults(index);
                    }]>,
  ];
}

def TypeInferenceInterface : OpInterface<"TypeInferenceInterface"> {
  let cppNamespace = "::strata";
  let description = [{
    Infers the types of an op's results from its operands, attributes and the values of its constant operands, at the
    op's own version.
  }];
  let methods = [
    InterfaceMethod<[{
        Appends one type per actual result. Emits an error and fails if the op cannot be valid with these operands.}],
                    "::llvm::LogicalResult", "inferResultTypes",
                    (ins "::strata::ShapeContext &":$context), [{
                      return ::strata::inferResultTypes(context);
                    }]>,
  ];
}

// A type that `set`, a strata::onnx::TypeSet, contains. ODS takes any type: verifyTypes checks, since it knows the names
// of the operands that it speaks of.
class AllowedTypes<string typeSet, string summary> : Type<CPred<"true">, summary> {
  string set = typeSet;
}

class TypeSetOf<Constraint c> {
  string text = !if(!isa<AttrConstraint>(c), "",
                !if(!isa<AllowedTypes>(c), !cast<AllowedTypes>(c).set,
                !if(!isa<Optional>(c), !cast<AllowedTypes>(!cast<Optional>(c).baseType).set,
                    !cast<AllowedTypes>(!cast<Variadic>(c).baseType).set)));
}

// The sets of the operands (results) among the arguments of an op.
class TypeSetsOf<dag arguments> {
  list<int> indices = !range(!size(arguments));
  list<string> single = !foreach(i, indices, TypeSetOf<!getdagarg<Constraint>(arguments, i)>.text);
  list<string> sets = !filter(t, single, !not(!empty(t)));
  string text = !foldl("", sets, all, set, all # set # ", ");
  int count = !size(sets);
}

// The base class: dialect, ONNX-style domain, mnemonic prefix, operator name, since-version.
class VersionedOp<Dialect dialect, string operatorDomain, string prefix, string operatorName, int since,
                  list<Trait> traits = []>
    : Op<dialect, prefix # operatorName # "_" # since, traits # [VersionedOpInterface, TypeInferenceInterface]> {
  string signature = "() -> ()";
  int newestVersion = since;
  int nextVersion = 0;
  bit stepKeepsSignature = false;
  bit deprecated = false;
  bit hasFunctionBody = false;

  let summary = operatorDomain # "::" # operatorName # ", since version " # since;
  let hasVerifier = 1;
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    static ::llvm::StringRef getDomain() { return "}] # operatorDomain # [{"; }
    static ::llvm::StringRef getOperatorName() { return "}] # operatorName # [{"; }
    static int64_t getSinceVersion() { return }] # since # [{; }
    static int64_t getNewestVersion() { return }] # newestVersion # [{; }
    static int64_t getNextVersion() { return }] # nextVersion # [{; }
    static bool stepKeepsSignature() { return }] # stepKeepsSignature # [{; }
    static bool isDeprecated() { return }] # deprecated # [{; }
    static bool hasFunctionBody() { return }] # hasFunctionBody # [{; }
    static const ::strata::Signature &getSignature();
  }];
  let extraClassDefinition = [{
    static ::strata::TypeSets typeSetsOf(::strata::OpTag<$cppClass>) {
      // The last one only ends the list, which may be empty.
      static constexpr ::strata::onnx::TypeSet sets[] = {}] # TypeSetsOf<arguments>.text
          # TypeSetsOf<results>.text # [{::strata::onnx::TypeSet{}};
      constexpr size_t inputs = }] # TypeSetsOf<arguments>.count # [{, outputs = }] # TypeSetsOf<results>.count # [{;
      return {::llvm::ArrayRef(sets, inputs), ::llvm::ArrayRef(sets + inputs, outputs)};
    }
    const ::strata::Signature &$cppClass::getSignature() {
      static const auto parsed = ::strata::Signature::parse("}] # signature # [{");
      return parsed;
    }
    ::llvm::LogicalResult $cppClass::verify() {
      if (::llvm::failed(::strata::verifyTypes(getOperation(), typeSetsOf(::strata::OpTag<$cppClass>()))))
        return ::llvm::failure();
      return ::strata::verifyVersionedOp(getOperation());
    }
    ::mlir::ParseResult $cppClass::parse(::mlir::OpAsmParser &parser, ::mlir::OperationState &state) {
      return ::strata::parseVersionedOp(parser, state, getSignature());
    }
    void $cppClass::print(::mlir::OpAsmPrinter &printer) { ::strata::printVersionedOp(printer, getOperation()); }
  }];
}

#endif // STRATA_DIALECT_VERSIONEDOP_TD
