# One imported target, piddm::torch, around whichever LibTorch is installed.
# TorchConfig.cmake sets global flags and lists directories that need not exist; only what is needed passes through
# here.
find_package(Torch REQUIRED)

set(_piddm_torch_includes)
foreach(_dir IN LISTS TORCH_INCLUDE_DIRS)
  if(EXISTS "${_dir}")
    list(APPEND _piddm_torch_includes "${_dir}")
  endif()
endforeach()
# LibTorch from pip brings headers of another fmt than the one installed (and linked, and used by spdlog): ours
# are put first.
find_path(PIDDM_FMT_INCLUDE_DIR fmt/format.h)
foreach(_dir IN LISTS _piddm_torch_includes)
  if(PIDDM_FMT_INCLUDE_DIR AND EXISTS "${_dir}/fmt/format.h" AND NOT _dir STREQUAL PIDDM_FMT_INCLUDE_DIR)
    file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/fmt-first)
    file(CREATE_LINK ${PIDDM_FMT_INCLUDE_DIR}/fmt ${CMAKE_BINARY_DIR}/fmt-first/fmt SYMBOLIC)
    list(PREPEND _piddm_torch_includes ${CMAKE_BINARY_DIR}/fmt-first)
    break()
  endif()
endforeach()
set_target_properties(torch PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${_piddm_torch_includes}")

# The C++ library comes first: pip's libtorch exports std::filesystem functions of an older one, which would be
# found before the real ones and crash (std::filesystem::remove_all jumps to address 0).
if(NOT TARGET piddm::torch)
  add_library(piddm::torch INTERFACE IMPORTED)
  set_target_properties(piddm::torch PROPERTIES
    INTERFACE_LINK_LIBRARIES "stdc++;${TORCH_LIBRARIES}"
    INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${_piddm_torch_includes}")
endif()
