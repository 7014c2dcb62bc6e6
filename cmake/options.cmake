# How everything of ours is compiled.

set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_VISIBILITY_PRESET hidden) # what MN_API marks leaves a library, nothing else
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_C_FLAGS_RELEASE "-O3")
set(CMAKE_CXX_FLAGS_RELEASE "-O3")

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()

# No errno from sqrt, no trapping: neither changes a result, both let loops vectorise. Nothing that reorders sums.
add_compile_options(-fno-math-errno -fno-trapping-math)
if(MENISCUS_SANITIZE)
  add_compile_options(-fsanitize=${MENISCUS_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${MENISCUS_SANITIZE})
  add_compile_definitions(MN_SANITIZED=1)
endif()
if(MENISCUS_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# The house's own C: core, nodes and plugin.
function(meniscus_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Werror
                         $<$<COMPILE_LANGUAGE:C>:-Wconversion -Wstrict-prototypes -Wmissing-prototypes>)
endfunction()
