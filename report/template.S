// SPDX-License-Identifier: Apache-2.0
// Puts the built page into the program. UNLATCH_REPORT_TEMPLATE is the path of the HTML file.
  .section .rodata
  .global unlatch_report_template
  .global unlatch_report_template_end
unlatch_report_template:
  .incbin UNLATCH_REPORT_TEMPLATE
unlatch_report_template_end:
  .section .note.GNU-stack, "", %progbits
