# Read by cpack for each format: which parts of the installation it holds.
set(family redhat)
if(CPACK_GENERATOR STREQUAL "DEB")
  set(family debian)
endif()
list(GET CPACK_INSTALL_CMAKE_PROJECTS 0 build)
set(CPACK_INSTALL_CMAKE_PROJECTS "${build};aistor-rdma-check;Unspecified;/;${build};aistor-rdma-check;${family};/")
