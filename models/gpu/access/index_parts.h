#pragma once
#include "models/gpu/access/expression.h"

/// Parts of the reader of indices.
namespace models::gpu {

enum class IndexTokenKind : std::uint8_t { number, word, symbol, end, closed };
/// `end`: of a statement; `closed`: of the text.
struct IndexToken {
  IndexTokenKind kind = IndexTokenKind::closed;
  std::string_view text;
  std::size_t at = 1;     ///< letter of the text, from 1
  bool new_line = false;  ///< an end that is only the end of a line
};
/// Comments, blanks and continued lines are left out. At most index_text_most + 1 tokens, the last is `closed`.
Result<std::vector<IndexToken>> index_tokens(std::string_view text);

/// "character 7"
std::string index_place(std::size_t at);
/// A word that names a type or stands before one: skipped in a definition and as a cast.
bool is_type_word(std::string_view word);

struct IndexDefinition {
  std::string name;
  int number = -1;  ///< in IndexExpression::definitions; -1: a constant
  std::int64_t value = 0;
};

/// Reads one expression of the tokens [at, end).
class IndexParser {
 public:
  IndexParser(IndexExpression& into, const std::vector<IndexDefinition>& own) : into_(into), own_(own) {}
  /// The node; -1: error() says why.
  int parse(std::span<const IndexToken> tokens, std::size_t text_end);
  const std::string& error() const { return error_; }
  int node(IndexOp op, std::size_t at, int first = -1, int second = -1, int third = -1, std::int64_t value = 0);

 private:
  int choice();
  int binary(int least);
  int unary();
  int primary();
  int bracketed();
  int name();
  int number();
  int call(std::string_view function, std::size_t at);
  int swizzle_of(std::span<const int> values, std::size_t at);
  bool skip_cast();
  bool is(std::string_view symbol) const;
  bool take(std::string_view symbol);
  std::size_t place() const;
  std::string_view seen() const;
  int refuse(std::string sentence);

  IndexExpression& into_;
  const std::vector<IndexDefinition>& own_;
  std::span<const IndexToken> tokens_;
  std::size_t next_ = 0, text_end_ = 1;
  int depth_ = 0;
  std::string error_;
};

}  // namespace models::gpu
