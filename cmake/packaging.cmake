# What `cmake --install` puts beside the program (app/CMakeLists.txt installs that), and the Debian package that `cpack -G DEB`
# makes of it. packaging/check_deb.sh unpacks the package and runs the program from there.
include(GNUInstallDirs)
set(packaging ${PROJECT_SOURCE_DIR}/packaging)

# The program looks for ../share/ridgeline/assets from where its own file lies: app/platform/paths.h. The pictures are the README's.
install(DIRECTORY assets/ DESTINATION ${CMAKE_INSTALL_DATADIR}/ridgeline/assets PATTERN pictures EXCLUDE)
install(FILES ${packaging}/ridgeline.desktop DESTINATION ${CMAKE_INSTALL_DATADIR}/applications)
install(FILES ${packaging}/ridgeline.svg DESTINATION ${CMAKE_INSTALL_DATADIR}/icons/hicolor/scalable/apps)
foreach(size 48 128 256)
  install(FILES ${packaging}/ridgeline-${size}.png DESTINATION ${CMAKE_INSTALL_DATADIR}/icons/hicolor/${size}x${size}/apps
    RENAME ridgeline.png)
endforeach()
# What `ridgeline help` says, as a manual page and for bash; made with the program (app/CMakeLists.txt).
set(manual ${PROJECT_BINARY_DIR}/app/manual)
install(CODE "execute_process(COMMAND gzip -9nc \"${manual}/ridgeline.1\" OUTPUT_FILE \"${manual}/ridgeline.1.gz\" COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND gzip -9nc \"${packaging}/changelog\" OUTPUT_FILE \"${manual}/changelog.gz\" COMMAND_ERROR_IS_FATAL ANY)")
install(FILES ${manual}/ridgeline.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${manual}/ridgeline.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME ridgeline)
install(FILES ${packaging}/io.ridgeline.Ridgeline.metainfo.xml DESTINATION ${CMAKE_INSTALL_DATADIR}/metainfo)
install(FILES ${manual}/changelog.gz DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/ridgeline)
install(FILES README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/ridgeline)
install(FILES NOTICE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/ridgeline RENAME copyright) # the name that Debian looks for

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME ridgeline)
set(CPACK_PACKAGE_VENDOR Ridgeline)
# Who answers for a package is for whoever makes it to say: cmake -DRIDGELINE_CONTACT="Name <address>".
set(RIDGELINE_CONTACT "Ridgeline developers <developers@ridgeline.invalid>" CACHE STRING "Maintainer of the package: Name <address>")
set(CPACK_PACKAGE_CONTACT "${RIDGELINE_CONTACT}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "performance engineering of machine learning, taught by models to touch")
set(CPACK_PACKAGE_DESCRIPTION "Ridgeline is a window of small laboratories: rooflines, number formats,
traces, schedulers, serving queues and kernels answer at once to what is set.
Each figure is computed by a model that a test holds to a published or
measured value. It also runs from the command line, and draws its pictures
without a display.")
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION education)
# The libraries that the program is linked with are read from its file; these are opened when it runs.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libgl1, libegl-mesa0 | libegl-vendor, libgl1-mesa-dri, fonts-inter, fonts-jetbrains-mono")
include(CPack)
