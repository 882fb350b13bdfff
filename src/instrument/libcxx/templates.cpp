// SPDX-License-Identifier: Apache-2.0
//
// The templates that libc++'s headers declare to be instantiated in its archive, instantiated here,
// instrumented. This object is linked before the archive, so these are the ones that run.

#include <algorithm>
#include <fstream>
#include <functional>
#include <iostream>
#include <istream>
#include <locale>
#include <ostream>
#include <sstream>
#include <streambuf>
#include <string>
#include <type_traits>

namespace std {
inline namespace _LIBCPP_ABI_NAMESPACE {

template class basic_string<char>;
template string operator+<char, char_traits<char>, allocator<char>>(const char*, const string&);

template class basic_streambuf<char>;
template class basic_istream<char>;
template class basic_ostream<char>;
template class basic_iostream<char>;
template class basic_stringbuf<char>;
template class basic_stringstream<char>;
template class basic_ostringstream<char>;
template class basic_istringstream<char>;
template class basic_filebuf<char>;
template class basic_ifstream<char>;
template class basic_ofstream<char>;
template struct __num_get<char>;
template struct __num_put<char>;
template class num_get<char>;
template class num_put<char>;

// Declared in the header, defined in the archive. The comparison is operator< in all of them.
template <class Compare, class Iterator>
void __sort(Iterator first, Iterator last, Compare) {
  __less<> less;
  __introsort<_ClassicAlgPolicy, __less<>&, Iterator,
              __use_branchless_sort<__less<>, Iterator>::value>(first, last, less,
                                                                2 * std::__log2i(last - first));
}
template void __sort<__less<char>&, char*>(char*, char*, __less<char>&);
template void __sort<__less<short>&, short*>(short*, short*, __less<short>&);
template void __sort<__less<unsigned short>&, unsigned short*>(unsigned short*, unsigned short*,
                                                               __less<unsigned short>&);
template void __sort<__less<int>&, int*>(int*, int*, __less<int>&);
template void __sort<__less<unsigned>&, unsigned*>(unsigned*, unsigned*, __less<unsigned>&);
template void __sort<__less<long>&, long*>(long*, long*, __less<long>&);
template void __sort<__less<unsigned long>&, unsigned long*>(unsigned long*, unsigned long*,
                                                             __less<unsigned long>&);
template void __sort<__less<long long>&, long long*>(long long*, long long*, __less<long long>&);
template void __sort<__less<unsigned long long>&, unsigned long long*>(unsigned long long*,
                                                                       unsigned long long*,
                                                                       __less<unsigned long long>&);
template void __sort<__less<float>&, float*>(float*, float*, __less<float>&);
template void __sort<__less<double>&, double*>(double*, double*, __less<double>&);

}  // namespace _LIBCPP_ABI_NAMESPACE
}  // namespace std
