/* A library to preload: it makes the running node one that allows no external buffers, as Electron's is. The addon
   looks Node-API up by dlsym, and gets ours for this one function. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>

enum { NAPI_NO_EXTERNAL_BUFFERS_ALLOWED = 22 };

static int refuse(void) {
  return NAPI_NO_EXTERNAL_BUFFERS_ALLOWED;
}

void *dlsym(void *library, const char *name) {
  static void *(*original)(void *, const char *);
  if (strcmp(name, "napi_create_external_buffer") == 0) {
    return (void *)refuse;
  }
  /* Its version in glibc 2.34 and later, and before that on x86-64 and on aarch64. */
  static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"};
  for (int index = 0; original == NULL && index < 3; index += 1) {
    *(void **)&original = dlvsym(RTLD_NEXT, "dlsym", versions[index]);
  }
  return original(library, name);
}
