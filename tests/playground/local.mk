# SPDX-License-Identifier: MIT
test-products: $(B)/playground.html $(B)/playground-native
