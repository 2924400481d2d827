// Gives the precompiled Torch header (pch.h) a translation unit to be built with.
