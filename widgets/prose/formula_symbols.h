#pragma once
#include "widgets/prose/formula.h"

/// The commands that formulas know. Every character here is in Inter.
namespace widgets {

struct FormulaCommand {
  std::string_view name, text;
  FormulaNode::Air air = FormulaNode::Air::ordinary;
};

inline constexpr FormulaCommand formula_commands[] = {
    {"alpha", "α"},
    {"beta", "β"},
    {"gamma", "γ"},
    {"delta", "δ"},
    {"epsilon", "ε"},
    {"zeta", "ζ"},
    {"eta", "η"},
    {"theta", "θ"},
    {"iota", "ι"},
    {"kappa", "κ"},
    {"lambda", "λ"},
    {"mu", "μ"},
    {"nu", "ν"},
    {"xi", "ξ"},
    {"pi", "π"},
    {"rho", "ρ"},
    {"sigma", "σ"},
    {"tau", "τ"},
    {"upsilon", "υ"},
    {"phi", "φ"},
    {"chi", "χ"},
    {"psi", "ψ"},
    {"omega", "ω"},
    {"Gamma", "Γ"},
    {"Delta", "Δ"},
    {"Theta", "Θ"},
    {"Lambda", "Λ"},
    {"Xi", "Ξ"},
    {"Pi", "Π"},
    {"Sigma", "Σ"},
    {"Phi", "Φ"},
    {"Psi", "Ψ"},
    {"Omega", "Ω"},
    {"infty", "∞"},
    {"partial", "∂"},
    {"dots", "…"},
    {"ldots", "…"},
    {"cdots", "…"},
    {"cdot", "·", FormulaNode::Air::binary},
    {"times", "×", FormulaNode::Air::binary},
    {"div", "÷", FormulaNode::Air::binary},
    {"pm", "±", FormulaNode::Air::binary},
    {"le", "≤", FormulaNode::Air::relation},
    {"leq", "≤", FormulaNode::Air::relation},
    {"ge", "≥", FormulaNode::Air::relation},
    {"geq", "≥", FormulaNode::Air::relation},
    {"ne", "≠", FormulaNode::Air::relation},
    {"neq", "≠", FormulaNode::Air::relation},
    {"approx", "≈", FormulaNode::Air::relation},
    {"lt", "<", FormulaNode::Air::relation},
    {"gt", ">", FormulaNode::Air::relation},
    {"ll", "<<", FormulaNode::Air::relation},
    {"gg", ">>", FormulaNode::Air::relation},
    {"to", "→", FormulaNode::Air::relation},
    {"Rightarrow", "⇒", FormulaNode::Air::relation},
    {"sum", "∑", FormulaNode::Air::big},
    {"prod", "∏", FormulaNode::Air::big},
    {"min", "min", FormulaNode::Air::function},
    {"max", "max", FormulaNode::Air::function},
    {"log", "log", FormulaNode::Air::function},
    {"ln", "ln", FormulaNode::Air::function},
    {"exp", "exp", FormulaNode::Air::function},
    {"%", "%"},
    {"_", "_"},
    {"$", "$"},
    {"#", "#"},
    {"&", "&"},
    {"{", "{"},
    {"}", "}"},
};
struct FormulaSpace {
  std::string_view name;
  float em;
};
inline constexpr FormulaSpace formula_spaces[] = {{",", 0.17f}, {":", 0.22f},   {";", 0.28f},
                                                  {" ", 0.25f}, {"quad", 1.0f}, {"qquad", 2.0f}};

/// One letter for each delimiter of a fence: ( ) [ ], and c d f g for the ceiling and floor pairs.
struct FormulaDelimiter {
  std::string_view written;
  char letter;
  bool opens;
};
inline constexpr FormulaDelimiter formula_delimiters[] = {
    {"(", '(', true},  {"[", '[', true},  {"\\lceil", 'c', true},  {"\\lfloor", 'f', true},
    {")", ')', false}, {"]", ']', false}, {"\\rceil", 'd', false}, {"\\rfloor", 'g', false}};

}  // namespace widgets
