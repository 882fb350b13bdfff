# SPDX-License-Identifier: Apache-2.0
# Installs the page's npm packages where they are missing or older than the lock file.
# cmake -D NPM=... -D DIRECTORY=... -P npm_ci.cmake

set(installed "${DIRECTORY}/node_modules/.package-lock.json")
if(EXISTS "${installed}" AND "${installed}" IS_NEWER_THAN "${DIRECTORY}/package-lock.json")
  return()
endif()
execute_process(
  COMMAND "${NPM}" ci --include=dev --no-audit --no-fund
  WORKING_DIRECTORY "${DIRECTORY}"
  RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR
    "npm could not install the report's packages in ${DIRECTORY} (status ${status}).\n"
    "With a network, run \"npm ci\" there; its output says what is wrong.")
endif()
file(TOUCH "${installed}")
