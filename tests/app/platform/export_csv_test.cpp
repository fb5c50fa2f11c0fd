#include <catch2/catch_test_macros.hpp>

#include "app/platform/csv.h"

using widgets::DataTable;

namespace {
std::string csv(std::vector<DataTable> tables) { return app::to_csv({{0, 0}, {1, 1}, {}, std::move(tables)}); }
}  // namespace

TEST_CASE("CSV names each table, with an empty line between") {
  CHECK(csv({{"roofline", {"intensity_flop_per_byte", "flops"}, {{"1", "3.35e12"}, {"295", "989e12"}}},
             {"points", {"name"}, {{"qk"}}}}) ==
        "# roofline\nintensity_flop_per_byte,flops\n1,3.35e12\n295,989e12\n\n# points\nname\nqk\n");
  CHECK(csv({}).empty());
}

TEST_CASE("CSV quotes commas, quotes and line ends, doubling quotes (RFC 4180)") {
  CHECK(csv({{"t", {"a", "b"}, {{"x,y", "say \"hi\""}, {"two\nlines", "cr\r"}, {" padded ", "plain"}}}}) ==
        "# t\na,b\n\"x,y\",\"say \"\"hi\"\"\"\n\"two\nlines\",\"cr\r\"\n\" padded \",plain\n");
}

TEST_CASE("CSV keeps a cell that looks like a table's name apart from one, and a name on one line") {
  CHECK(csv({{"two\nlines", {"op"}, {{"# 1"}, {"#"}}}}) == "# two lines\nop\n\"# 1\"\n\"#\"\n");
}

TEST_CASE("CSV fills short rows up to the columns") {
  CHECK(csv({{"t", {"a", "b", "c"}, {{"1"}, {}, {"1", "2", "3"}}}}) == "# t\na,b,c\n1,,\n,,\n1,2,3\n");
}

TEST_CASE("CSV holds no formula and no control character, and leaves plain numbers alone") {
  CHECK(csv({{"t\x1b", {"=a", "b"}, {{"=1+2", "@x"}, {"+cmd", "-cmd"}, {"-3.5e-9", "+7"}, {"-inf", "-"}}}}) ==
        "# t \n'=a,b\n'=1+2,'@x\n'+cmd,'-cmd\n-3.5e-9,+7\n-inf,'-\n");
  CHECK(csv({{"t", {"a"}, {{"bell\x07, \x1b[31m"}, {"1e400"}}}}) == "# t\na\n\"bell, [31m\"\n1e400\n");
}

TEST_CASE("CSV in long form has one row an observation under one row of names, units apart, quoted as ever") {
  const widgets::Record record{{0, 0},
                               {1, 1},
                               {},
                               {{"times, all", {"batch", "time (s)", "share (%)"}, {{"1", "0.5", "40"}, {"2", "0.7"}}},
                                {"alone", {"x"}, {{"1"}}}}};
  CHECK(app::to_long_csv(record, "a/b", "a/b?c=1") ==
        "lab,scenario,table,row,input,input_value,input_unit,output,value,unit\n"
        "a/b,a/b?c=1,\"times, all\",1,batch,1,,time,0.5,s\n"
        "a/b,a/b?c=1,\"times, all\",1,batch,1,,share,40,%\n"
        "a/b,a/b?c=1,\"times, all\",2,batch,2,,time,0.7,s\n");
  CHECK(app::csv_line({"say \"hi\"", "a,b", "=1+1"}) == "\"say \"\"hi\"\"\",\"a,b\",'=1+1\n");
}
